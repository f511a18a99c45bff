"""Writing results: a file appears whole or not at all.

Content goes to a temporary file beside its target and takes the target's place once it is complete, so that a full
disk or an interrupt leaves neither a half-written file nor a lost old one.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import OutputError

__all__ = ["whole_file", "write_whole"]


def write_whole(path: str | os.PathLike[str], content: bytes) -> Path:
    """Writes `content` to `path`; returns the path. Raises `OutputError` where it can't be written."""
    with whole_file(path) as file:
        file.write(content)
    return Path(path)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which becomes `path` when the block ends, and vanishes when it raises.

    Raises `OutputError` where it can't be written.
    """
    target = _target(Path(path))
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
        temporary.replace(target)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error), _next_step(target)) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _target(path: Path) -> Path:
    """`path` with links followed, so that a link keeps pointing to what is written."""
    try:
        target = path.resolve()
        is_other = target.exists() and not target.is_file()
    except (OSError, ValueError, RuntimeError) as error:
        raise _unwritable(path, getattr(error, "strerror", None) or str(error), "Name another file.") from None
    if is_other:
        # Replacing a device such as /dev/null would take it away from everyone.
        what = "it is a folder" if target.is_dir() else "it is not a regular file"
        raise _unwritable(path, what, "Name a file.")
    return target


def _next_step(target: Path) -> str:
    return "Name another file." if target.parent.is_dir() else f"Make the folder {target.parent} first."


def _unwritable(path: str | os.PathLike[str], reason: str, next_step: str) -> OutputError:
    rule = f"can't be written: {reason[:1].lower()}{reason[1:]}"
    return OutputError(os.fspath(path), rule=rule, next_step=next_step)
