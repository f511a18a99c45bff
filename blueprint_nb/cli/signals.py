"""Being told to end: a file that is half-written is taken away first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

__all__ = ["clean_end"]

_NAMES = ("SIGTERM", "SIGHUP")


@contextmanager
def clean_end() -> Iterator[None]:
    """In the block, SIGTERM and SIGHUP raise `SystemExit` with 128 and their number, so that `finally` still runs."""
    held = [number for number in _told_to_end() if signal.getsignal(number) is signal.SIG_DFL]
    for number in held:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in held:
            signal.signal(number, signal.SIG_DFL)


def _told_to_end() -> list[signal.Signals]:
    # Only the main thread may say what a signal does, and Windows has no SIGHUP.
    if threading.current_thread() is not threading.main_thread():
        return []
    return [signal.Signals[name] for name in _NAMES if name in signal.Signals.__members__]


def _end(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)
