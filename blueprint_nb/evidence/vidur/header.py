"""The header of a profile file: which of its columns are keys and times, and what a file without any looks like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from ...errors import ProfileError, shown
from ...words import few
from .cells import BLANKS
from .columns import KINDS, RENAMED, FileKind
from .refusals import refusal

__all__ = ["check_header", "check_separator", "time_column", "time_sources"]

_LONGEST_HEADER_BYTES: Final = 10**6
_AROUND: Final = BLANKS + '"'
_SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MOST_SHOWN: Final = 5


def time_column(name: str, statistic: str = "median") -> str:
    """The column that holds the time, or another statistic, of the operator or newer operator `name`."""
    return f"time_stats.{name}.{statistic}"


def time_sources(operator: str) -> tuple[str, ...]:
    """The names under which files time `operator`, the oldest first."""
    return (operator, *(newer for newer, oldest in RENAMED.items() if oldest == operator))


def check_separator(file: str, text: bytes, kind: FileKind) -> None:
    """Raises `ProfileError` where the first line of `text` names keys of `kind`, but not between commas."""
    line = text[:_LONGEST_HEADER_BYTES].lstrip().partition(b"\n")[0].decode(errors="replace")
    for separator, name in _SEPARATORS.items():
        if _keys([cell.strip(_AROUND) for cell in line.split(separator)], kind):
            if separator != ",":
                raise refusal(file, f"must be separated by commas, not by {name}", next_step="Save it with commas.")
            return


def check_header(file: str, columns: Sequence[str], kind: FileKind) -> None:
    """Raises `ProfileError` where `columns`, without the spaces around them, are not those of a profile of `kind`."""
    if not columns:
        raise refusal(file, "is empty", next_step="Restore the file.")
    if not _keys(columns, kind):
        raise _no_keys(file, columns, kind)
    if not _times(columns, kind) and (others := [other for other in KINDS.values() if _times(columns, other)]):
        raise refusal(
            file,
            f"times no operator of {_article(kind.name)} profile",
            next_step=f"It looks like {_either(others)} profile.",
        )
    name, count = max(Counter(filter(None, columns)).items(), key=itemgetter(1))
    if count > 1:
        raise refusal(
            file, "must name each column once", got=f"{shown(name)} {count} times", next_step="Rename or drop one."
        )


def _keys(columns: Sequence[str], kind: FileKind) -> list[str]:
    return [key.name for key in kind.keys if key.name in columns]


def _times(columns: Sequence[str], kind: FileKind) -> list[str]:
    names = [name for operator in kind.operators for name in time_sources(operator)]
    return [name for name in names if time_column(name) in columns]


def _no_keys(file: str, columns: Sequence[str], kind: FileKind) -> ProfileError:
    if any(map(_is_number, columns)):
        return refusal(
            file,
            "has no header: its first line is data",
            got=_listed(columns),
            next_step=f"Give it a header: {_listing(kind)}.",
        )
    next_step = f"Such a file has {_listing(kind)}."
    if others := [other for other in KINDS.values() if _looks_like(columns, other)]:
        next_step = f"It looks like {_either(others)} profile. {next_step}"
    rule = f"has none of the key columns of {_article(kind.name)} profile"
    return refusal(file, rule, got=_listed(columns), next_step=next_step)


def _looks_like(columns: Sequence[str], kind: FileKind) -> bool:
    return bool(_times(columns, kind)) or 2 * len(_keys(columns, kind)) > len(kind.keys)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _listing(kind: FileKind) -> str:
    *names, last = (key.name for key in kind.keys)
    return f"{', '.join(names)} and {last}"


def _listed(columns: Sequence[str]) -> str:
    return few([*map(shown, columns)], _MOST_SHOWN)


def _either(kinds: Sequence[FileKind]) -> str:
    return " or ".join(_article(kind.name) for kind in kinds)


def _article(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"
