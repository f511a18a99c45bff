"""Whether results can be written, asked before the minutes that they take."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ..errors import InvalidInputError, OutputError, os_reason, shown
from ..files import whole_file

__all__ = ["make_folder", "require_folder_named", "require_plain_name", "require_writable"]

LONGEST_NAME = 200


class _EnoughError(Exception):
    """Ends the attempt to write, which leaves what was there."""


def require_writable(path: str | Path) -> None:
    """Raises `OutputError` where no file can be written to `path`. What is there stays as it is."""
    with suppress(_EnoughError), whole_file(path):
        raise _EnoughError


def require_folder_named(text: str) -> None:
    """Raises `OutputError` for empty text, which a Path takes for the current folder."""
    if not text:
        raise OutputError("''", rule="can't be written: it names no folder", next_step="Name a folder.")


def require_plain_name(name: str, option: str) -> None:
    """Raises `InvalidInputError` unless `name` is a file's name that stays in its folder."""
    is_plain = name.isprintable() and not set(name) & set("/\\") and name.strip() not in {"", ".", ".."}
    if not is_plain or len(name) > LONGEST_NAME:
        raise InvalidInputError(
            option,
            got=shown(name),
            rule=f"must be a plain name: 1 to {LONGEST_NAME} printable characters, no slashes, not . or ..",
            next_step="Write one such as mine; --output names the folder.",
        )


def make_folder(folder: Path) -> None:
    """Makes `folder` with those that it is in. Raises `OutputError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        obstacle = _not_a_folder(folder)
        reason = os_reason(error) if obstacle is None else f"{obstacle} is not a folder"
        raise OutputError(str(folder), rule=f"can't be made: {reason}", next_step="Name another folder.") from error


def _not_a_folder(folder: Path) -> Path | None:
    """What stands where `folder`, or one that it is in, would be."""
    with suppress(OSError, ValueError):
        for place in (folder, *folder.parents):
            # exists() is false for a broken link, which is in the way too.
            if (place.exists() or place.is_symlink()) and not place.is_dir():
                return place
    return None
