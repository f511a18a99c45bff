"""A profile file as text: its bytes, read once, with what is not text in UTF-8 refused by what it looks like.

In the wild stand, where a CSV file should: Git LFS pointers, web pages, archives, spreadsheets and Parquet files. A
byte-order mark is dropped and every end of line becomes a line feed, so that lines are counted as an editor counts
them.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Final

from ...errors import InvalidInputError, ProfileError, os_reason, shown
from .refusals import refusal

__all__ = ["Source", "read_source"]

_LARGEST_BYTES: Final = 2 * 10**9
"""A million rows of the widest published file take 0.7 GB."""
_MOST_LINES: Final = 10**7
"""Published files have some thousands; what has more lines than this is no profile, and takes gigabytes to index."""

_AS_CSV: Final = "Save it as CSV, in UTF-8."
_UNPACK: Final = "Unpack it first."
_SIGNATURES: Final = (
    (b"version https://git-lfs.github.com/spec/v1", "is a Git LFS pointer, not the file itself", "Run `git lfs pull`."),
    (b"\x1f\x8b", "is not a CSV file but compressed by gzip", _UNPACK),
    (b"BZh", "is not a CSV file but compressed by bzip2", _UNPACK),
    (b"\xfd7zXZ\0", "is not a CSV file but compressed by xz", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "is not a CSV file but compressed by Zstandard", _UNPACK),
    (b"PK\x03\x04", "is not a CSV file but a ZIP archive or a spreadsheet", f"Unpack it first. {_AS_CSV}"),
    (b"PAR1", "is not a CSV file but a Parquet file", _AS_CSV),
    (b"\xff\xfe", "is not in UTF-8 but in UTF-16", _AS_CSV),
    (b"\xfe\xff", "is not in UTF-8 but in UTF-16", _AS_CSV),
)
_PAGES: Final = (b"<!doctype html", b"<html")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a file, and the digest of the bytes it came from."""

    file: str
    sha256: str
    text: bytes
    """UTF-8 without a byte-order mark; every line ends in a line feed."""


def read_source(path: str | os.PathLike[str]) -> Source:
    """The file at `path`. Raises `ProfileError` where it can't be read, or is not text."""
    file = _checked(path)
    data = _read(file)
    digest = hashlib.sha256(data).hexdigest()
    return Source(file, digest, _as_text(file, data))


def _checked(path: object) -> str:
    try:
        file = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        file = None
    if not isinstance(file, str):
        raise InvalidInputError("path", got=shown(path), rule="must be a path as text")
    if not file:
        raise _unreadable("''", "it names no file")
    return file


def _read(file: str) -> bytes:
    try:
        status = Path(file).stat()
        # Before it is opened: a pipe would keep us waiting, and a device may never end.
        if not S_ISREG(status.st_mode) or status.st_size > _LARGEST_BYTES:
            what = "a folder" if S_ISDIR(status.st_mode) else f"not a regular file of at most {_LARGEST_BYTES:,} bytes"
            raise _unreadable(file, f"it is {what}")
        return Path(file).read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, ProfileError):
            raise
        raise _unreadable(file, os_reason(error)) from None


def _as_text(file: str, data: bytes) -> bytes:
    for start, rule, next_step in _SIGNATURES:
        if data.startswith(start):
            raise refusal(file, rule, next_step=next_step)
    if data[:1024].lstrip().lower().startswith(_PAGES):
        raise refusal(file, "is not a CSV file but a web page", next_step="Download the file itself.")
    text = data.removeprefix(_BYTE_ORDER_MARK)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\0" in text:
        line = text.count(b"\n", 0, text.index(b"\0")) + 1
        raise refusal(file, "is not text: it holds NUL bytes", line=line, next_step=f"Restore the file. {_AS_CSV}")
    _check_encoding(file, text)
    if not text.endswith(b"\n"):
        text += b"\n"
    if text.count(b"\n") > _MOST_LINES:
        raise refusal(file, f"must have at most {_MOST_LINES:,} lines", next_step="Split it into several files.")
    return text


def _check_encoding(file: str, text: bytes) -> None:
    if text.isascii():
        return
    try:
        text.decode()
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        got = f"the byte 0x{text[error.start]:02x}"
        raise refusal(file, "is not in UTF-8", line=line, got=got, next_step=_AS_CSV) from None


def _unreadable(file: str, reason: str) -> ProfileError:
    return refusal(file, f"can't be read: {reason}", next_step="Check the path.")
