"""The two standard streams, as commands write to them.

Names, descriptions and sources in a profile are other people's text. What in it could command a terminal, or turn the
order of its signs around, is written as an escape sequence such as \\x1b. A stream may be closed or its disk full: a
result that can't be written is a fault, a message that can't be is lost.
"""

from __future__ import annotations

import errno
import io
import json
import os
import unicodedata
from contextlib import suppress
from typing import TextIO

__all__ = ["Messages", "Results", "ResultsError", "json_text", "printable"]


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
                self._stream.write(printable(text))
                self._stream.flush()
            except OSError as error:
                # click tries a stream and drops what that raises, so it is kept and raised at each write.
                self._error = error
                _drop_buffered(self._stream)
                self._stream = None
        if self._error is not None:
            raise ResultsError from self._error
        return len(text)

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


def _drop_buffered(stream: TextIO) -> None:
    """What is still buffered would fail again when Python ends."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def printable(text: str) -> str:
    """`text` with control signs but the end of a line, and what is invisible, as escape sequences."""
    return text if text.isprintable() else "".join(_escaped(sign) for sign in text)


def json_text(text: str) -> str:
    """JSON with control signs and what is invisible as JSON escapes, which `printable` leaves alone."""
    return (
        text if text.isprintable() else "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)
    )


def _escaped(sign: str) -> str:
    if sign.isprintable() or sign == "\n" or unicodedata.category(sign) == "Zs":
        return sign
    return sign.encode("unicode_escape").decode()
