"""The two standard streams, as commands write to them.

Names, descriptions and sources in a profile are other people's text, of which only what is printable is written. A
stream may be closed or its disk full: a result that can't be written is a fault, a message that can't be is lost.
"""

from __future__ import annotations

import errno
import io
import os
from contextlib import suppress
from typing import TextIO

from ..text import printable

__all__ = ["Animation", "Messages", "Results", "ResultsError"]


class ResultsError(Exception):
    """Standard output can't be written; the cause is the system's error."""


class Results(io.TextIOBase):
    """Standard output. Raises `ResultsError` where it can't be written."""

    # click takes a stream apart that does not say these.
    encoding = "utf-8"
    errors = "replace"

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._error = OSError(errno.EBADF, os.strerror(errno.EBADF)) if stream is None else None
        if isinstance(stream, io.TextIOWrapper):
            # µ and · must not end a run on a terminal that can't show them.
            stream.reconfigure(errors="replace")

    def write(self, text: str, /) -> int:
        """Writes `text` at once."""
        if self._stream is not None:
            try:
                self._stream.write(self._shown(text))
                self._stream.flush()
            except OSError as error:
                # click tries a stream and drops what that raises, so it is kept and raised at each write.
                self._error = error
                _drop_buffered(self._stream)
                self._stream = None
        if self._error is not None:
            raise ResultsError from self._error
        return len(text)

    def _shown(self, text: str) -> str:
        return printable(text)

    def isatty(self) -> bool:
        """True: click takes colours out of what goes elsewhere, and here they are to be seen as what they are."""
        return True


class Messages(Results):
    """Standard error. What can't be written is lost, as there is nowhere to say so."""

    def write(self, text: str, /) -> int:
        """Writes `text` at once."""
        with suppress(ResultsError):
            super().write(text)
        return len(text)

    @property
    def stream(self) -> TextIO | None:
        """What it writes to; None where that can't be written."""
        return self._stream


class Animation(Messages):
    """A terminal on standard error, for what this project draws itself: its control characters are obeyed."""

    def _shown(self, text: str) -> str:
        return text


def _drop_buffered(stream: TextIO) -> None:
    """What is still buffered would fail again when Python ends."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
