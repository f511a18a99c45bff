"""A profile file, read: keys and times as arrays, and what is wrong with single cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .columns import FileKind


class Fault(NamedTuple):
    """A cell that holds no time."""

    line: int
    """Of the file, the header being line 1."""
    column: str
    got: str
    """The cell as it stands in the file, cut when long."""
    rule: str
    """What it breaks: "must be positive"."""


@dataclass(frozen=True, eq=False)
class ProfileTable:
    """Arrays have one element a row of the file, in its order, and are read-only."""

    kind: FileKind
    file: str
    """The path as it was given."""
    sha256: str
    """Of the file's bytes."""
    columns: tuple[str, ...]
    """Every column of the file, as named there, in its order."""
    keys: Mapping[str, Any]
    """Key to int64 array (flags as 0 and 1) or, for `attention_backend`, an object array of text without the enum's
    name. Only the keys the file has."""
    milliseconds: Mapping[str, Any]
    """Operator to float64 array, NaN where the row holds no time. Only the operators the file has."""
    faults: Mapping[str, Mapping[int, Fault]]
    """Operator to row to the fault of its cell."""
    lines: Any
    """int64 array: the line of each row in the file."""
    spread_milliseconds: Mapping[str, Any] = field(default_factory=dict)
    """Operator to float64 array: largest less smallest of the repeats, NaN where the file does not say. Only what was
    asked for and is in the file."""

    def __len__(self) -> int:
        return len(self.lines)
