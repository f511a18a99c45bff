"""Writing results: a file appears whole or not at all.

Content goes to a temporary file beside its target and takes the target's place once it is complete, so that a full
disk or an interrupt leaves neither a half-written file nor a lost old one. What it replaces keeps its permissions, and
is not replaced where they forbid to write it.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import InvalidInputError, OutputError, os_reason, shown

__all__ = ["whole_file", "write_whole"]


def write_whole(path: str | os.PathLike[str], content: bytes) -> Path:
    """Writes `content` to `path`; returns the path. Raises as `whole_file`."""
    with whole_file(path) as file:
        file.write(content)
    return Path(path)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which becomes `path` when the block ends, and vanishes when it raises.

    Raises `InvalidInputError` for what is no path, and `OutputError` where it can't be written.
    """
    target, permissions = _target(_checked(path))
    # Its name is short: the target's may be as long as names can be.
    temporary = target.with_name(f".blueprint-nb-{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            if permissions is not None:
                temporary.chmod(permissions)
            yield file
        temporary.replace(target)
    except OSError as error:
        raise _unwritable(path, os_reason(error), _next_step(target)) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _checked(path: object) -> Path:
    """`path`, where it is text that names a file."""
    try:
        text = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        text = None
    if not isinstance(text, str):
        raise InvalidInputError("path", got=shown(path), rule="must be a path as text")
    if not text:
        raise OutputError("''", rule="can't be written: it names no file", next_step="Name a file.")
    # A Path forgets the slash of "new/" and would write a file.
    if not text.endswith(Path(text).name or "/"):
        raise _unwritable(text, "it names a folder", "Name a file.")
    return Path(text)


def _target(path: Path) -> tuple[Path, int | None]:
    """`path` with links followed, so that a link keeps pointing to what is written; and the permissions it has."""
    try:
        target = path.resolve()
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target, None
    except (OSError, ValueError, RuntimeError) as error:
        raise _unwritable(path, os_reason(error), "Name another file.") from None
    if not stat.S_ISREG(mode):
        # Replacing a device such as /dev/null would take it away from everyone.
        what = "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file"
        raise _unwritable(path, what, "Name a file.")
    if not os.access(target, os.W_OK):
        raise _unwritable(path, "it is read-only", "Name another file.")
    return target, stat.S_IMODE(mode)


def _next_step(target: Path) -> str:
    return "Name another file." if target.parent.is_dir() else f"Make the folder {target.parent} first."


def _unwritable(path: str | os.PathLike[str], reason: str, next_step: str) -> OutputError:
    return OutputError(os.fspath(path), rule=f"can't be written: {reason}", next_step=next_step)
