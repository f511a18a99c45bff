"""A bar of how far a fit is: on a terminal only, as elsewhere there is nothing to animate."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO, cast

import click

from .streams import Animation, Messages

__all__ = ["fitting"]


@contextmanager
def fitting(steps: int) -> Iterator[Callable[[object], None]]:
    """To be called after each of `steps`, with whatever. Draws a bar where standard error is a terminal."""
    stream = sys.stderr.stream if isinstance(sys.stderr, Messages) else sys.stderr
    file = cast(TextIO, Animation(stream))
    with click.progressbar(length=steps, label="Fitting", file=file, hidden=not _can_animate(stream)) as bar:
        yield lambda _: bar.update(1)


def _can_animate(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
