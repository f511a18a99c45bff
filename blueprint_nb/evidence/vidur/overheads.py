"""Vidur's times of the host: what the scheduler and the launching of a step take, by model, batch and TP.

Columns `<operation>_median` in milliseconds, of CPU time that no kernel's time holds. `ray_comm_time` is published as
a mean alone, and keeps that in its name. Left out: the means beside medians.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .cells import BLANKS
from .columns import FileKind, Key
from .keys import key_values
from .layout import HOST
from .opened import opened
from .refusals import refusal
from .source import read_source
from .times import time_values

__all__ = ["HostTable", "read_overheads"]

_COUNTS: Final = (Key("batch_size", "count"), Key("tensor_parallel_degree", "count"))
_MODEL: Final = "model_name"
_MEDIAN: Final = "_median"
_MEAN_ALONE: Final = "ray_comm_time_mean"
_KIND: Final = FileKind(HOST, (Key(_MODEL, "backend"), *_COUNTS), ())


@dataclass(frozen=True, eq=False)
class HostTable:
    """Arrays have one element a row of the file, in its order."""

    sha256: str
    models: list[str]
    keys: dict[str, Any]
    """batch_size and tensor_parallel_degree, as int64 arrays."""
    milliseconds: dict[str, NDArray[np.float64]]
    """Operation to its times, NaN where the row holds none."""
    faults: dict[str, list[str]]
    """Operation to the rules that its cells break, one for each such cell."""
    lines: NDArray[np.int64]


def read_overheads(path: str | os.PathLike[str]) -> HostTable:
    """The file at `path`. Raises `ProfileError` for one that can't be read rightly."""
    source = read_source(path)
    file = source.file
    lines, columns = opened(source, _KIND)
    for key in _KIND.keys:
        if key.name not in columns:
            raise refusal(file, f"must have the column {key.name}, which says what a row is of")
    times = {_operation(name): name for name in columns if name.endswith(_MEDIAN) or name == _MEAN_ALONE}
    indices = sorted(columns.index(name) for name in (_MODEL, *(key.name for key in _COUNTS), *times.values()))
    rows = lines.rows(indices)
    texts = {columns[index]: cells for index, cells in zip(indices, rows.texts, strict=True)}
    read = {name: time_values(name, {name: texts[column]}, None, rows.lines) for name, column in times.items()}
    return HostTable(
        sha256=source.sha256,
        models=texts[_MODEL].str.strip_chars(BLANKS).to_list(),
        keys={key.name: key_values(file, rows.lines, key, texts[key.name]) for key in _COUNTS},
        milliseconds={name: time.milliseconds for name, time in read.items()},
        faults={name: [fault.rule for fault in time.faults.values()] for name, time in read.items()},
        lines=rows.lines,
    )


def _operation(column: str) -> str:
    return column.removesuffix(_MEDIAN)
