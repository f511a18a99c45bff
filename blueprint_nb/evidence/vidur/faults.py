"""Faults of one operator's cells, kept as arrays: a file may hold millions of them, and few are ever looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from .table import Fault

if TYPE_CHECKING:
    import polars as pl

__all__ = ["CellFaults"]

_LONGEST_SHOWN: Final = 40


class CellFaults(Mapping[int, Fault]):
    """Row to fault. `rows` ascend; `column_of` and `rule_of` say which of `columns` and `rules` each fault is about."""

    def __init__(
        self,
        rows: NDArray[np.int64],
        *,
        lines: NDArray[np.int64],
        texts: pl.Series,
        columns: Sequence[str],
        column_of: NDArray[np.int64],
        rules: Sequence[str],
        rule_of: NDArray[np.int64],
    ) -> None:
        self._rows = rows
        self._lines = lines
        self._texts = texts
        self._columns = columns
        self._column_of = column_of
        self._rules = rules
        self._rule_of = rule_of

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows.tolist())

    def __getitem__(self, row: int) -> Fault:
        return self._faults[row]

    def __repr__(self) -> str:
        return f"CellFaults of {len(self):,} rows"

    @cached_property
    def _faults(self) -> dict[int, Fault]:
        fields = zip(
            self._lines.tolist(),
            map(self._columns.__getitem__, self._column_of.tolist()),
            map(_cut, self._texts.to_list()),
            map(self._rules.__getitem__, self._rule_of.tolist()),
            strict=True,
        )
        return dict(zip(self._rows.tolist(), map(Fault._make, fields), strict=True))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
