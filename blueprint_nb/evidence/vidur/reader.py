"""Reading a Vidur profile: a file is read as its header says, or refused as a whole; single times may be flagged.

What is not a table at all, has lines of another width than its header, or keys that can't be read, is refused with
the line and column. A time that can't be one is a fault of its row, and NaN.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ...errors import one_of
from .columns import KINDS, PHASE_OF, FileKind
from .header import check_header, check_separator, time_column, time_sources
from .keys import key_values
from .plain import PlainLines
from .quoted import QuotedLines
from .quotes import without_idle_quotes
from .source import Source, read_source
from .table import ProfileTable
from .times import time_values

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_profile"]

_PHASE: Final = "is_prefill"


def read_profile(path: str | os.PathLike[str], kind: str) -> ProfileTable:
    """The profile file at `path`, of a `kind` that `KINDS` names.

    Raises `ProfileError` for a file that can't be read rightly, and `InvalidInputError` for what is no path or kind.
    """
    file_kind = KINDS[one_of("kind", kind, KINDS)]
    return _table(read_source(path), file_kind)


def _table(source: Source, kind: FileKind) -> ProfileTable:
    file, text = source.file, without_idle_quotes(source.text)
    check_separator(file, text, kind)
    lines = QuotedLines(file, text) if b'"' in text else PlainLines(file, text)
    columns = tuple(name.strip() for name in lines.header)
    check_header(file, columns, kind)

    keys = [key for key in kind.keys if key.name in columns]
    times = _time_names(columns, kind)
    wanted = [key.name for key in keys] + [time_column(name) for names in times.values() for name in names]
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
