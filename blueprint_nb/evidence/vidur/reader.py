"""Reading a Vidur profile: a file is read as its header says, or refused as a whole; single times may be flagged.

What is not a table at all, has lines of another width than its header, or keys that can't be read, is refused with
the line and column. A time that can't be one is a fault of its row, and NaN.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ...errors import one_of
from .columns import KINDS, PHASE_OF, FileKind
from .header import time_column, time_sources
from .keys import key_values
from .opened import opened
from .source import Source, read_source
from .table import ProfileTable
from .times import spread_values, time_values

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_profile"]

_PHASE: Final = "is_prefill"
_ENDS: Final = ("min", "max")


def read_profile(path: str | os.PathLike[str], kind: str, *, with_spread: bool = False) -> ProfileTable:
    """The profile file at `path`, of a `kind` that `KINDS` names; with the spread of the repeats where asked for.

    Raises `ProfileError` for a file that can't be read rightly, and `InvalidInputError` for what is no path or kind.
    """
    file_kind = KINDS[one_of("kind", kind, KINDS)]
    return _table(read_source(path), file_kind, with_spread)


def _table(source: Source, kind: FileKind, with_spread: bool) -> ProfileTable:
    file = source.file
    lines, columns = opened(source, kind)
    keys = [key for key in kind.keys if key.name in columns]
    times = _time_names(columns, kind)
    spreads = _spread_names(columns, times) if with_spread else {}
    wanted = [key.name for key in keys] + [time_column(name) for names in times.values() for name in names]
    wanted += [time_column(name, end) for names in spreads.values() for name in names for end in _ENDS]
    indices = sorted(map(columns.index, wanted))
    rows = lines.rows(indices)
    texts: dict[str, pl.Series] = {columns[index]: text for index, text in zip(indices, rows.texts, strict=True)}

    key_arrays = {key.name: key_values(file, rows.lines, key, texts[key.name]) for key in keys}
    read = {
        operator: time_values(
            operator, {name: texts[time_column(name)] for name in names}, key_arrays.get(_PHASE), rows.lines
        )
        for operator, names in times.items()
    }
    spread = {
        operator: spread_values(
            {name: (texts[time_column(name, "min")], texts[time_column(name, "max")]) for name in names},
            key_arrays.get(_PHASE),
        )
        for operator, names in spreads.items()
    }
    rows.lines.flags.writeable = False
    return ProfileTable(
        kind=kind,
        file=file,
        sha256=source.sha256,
        columns=columns,
        keys=key_arrays,
        milliseconds={operator: time.milliseconds for operator, time in read.items()},
        faults={operator: time.faults for operator, time in read.items()},
        lines=rows.lines,
        spread_milliseconds=spread,
    )


def _time_names(columns: tuple[str, ...], kind: FileKind) -> dict[str, list[str]]:
    """Operator to the names under which `columns` time it. What holds for one phase needs the column that tells it."""
    phases_known = _PHASE in columns
    found = {
        operator: [
            name
            for name in time_sources(operator)
            if time_column(name) in columns and (phases_known or name not in PHASE_OF)
        ]
        for operator in kind.operators
    }
    return {operator: names for operator, names in found.items() if names}


def _spread_names(columns: tuple[str, ...], times: dict[str, list[str]]) -> dict[str, list[str]]:
    """Operator to those of its names of which `columns` hold the smallest and the largest repeat."""
    found = {
        operator: [name for name in names if all(time_column(name, end) in columns for end in _ENDS)]
        for operator, names in times.items()
    }
    return {operator: names for operator, names in found.items() if names}
