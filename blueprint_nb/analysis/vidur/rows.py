"""The rows of a profile file that a key selects, and the median of their times.

A key selects by equality alone: no nearest row and no interpolation. Rows are kept in the order of one key, so that a
look-up in a file of a million rows reads few of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any, Final, Self

import numpy as np

from ...evidence.vidur import PHASE_OF, ProfileTable, read_profile
from ...evidence.vidur.blocks import is_timed
from ...units import format_count
from ..oracle import require_open_oracle
from .reference import Reason, VidurReference, not_covered

_SORTED_BY: Final = {
    "compute": "num_tokens",
    "attention": "kv_cache_size",
    "all_reduce": "size",
    "send_recv": "size",
}

_EMBEDDING_ONLY: Final = "vocab_size"
"""The vocabulary matters to the operator `emb` alone."""


@dataclass(frozen=True, eq=False)
class ProfileRows:
    """A profile file, to look up in."""

    table: ProfileTable
    _timed: dict[tuple[Any, ...], bool | None] = field(default_factory=dict, init=False, repr=False)
    """Answers of `is_timed`, which every component of every case asks."""

    @classmethod
    def read(cls, path: str | os.PathLike[str], kind: str) -> Self:
        """The file at `path`. Raises as `read_profile`."""
        return cls(read_profile(path, kind))

    @cached_property
    def name(self) -> str:
        """The file's name."""
        return Path(self.table.file).name

    def is_timed(self, operator: str, like: Mapping[str, Any]) -> bool | None:
        """Whether the rows that are `like` time the operator, rightly or not; None where there is no such row.

        A cell that is empty or 0 means that there is nothing to time.
        """
        asked = (operator, *like.items())
        if asked not in self._timed:
            self._timed[asked] = self._is_timed(operator, like)
        return self._timed[asked]

    def _is_timed(self, operator: str, like: Mapping[str, Any]) -> bool | None:
        if not self.table.keys.keys() >= like.keys():
            return None
        rows = self._select(like)
        if not len(rows):
            return None
        return is_timed(self.table, operator, rows)

    def count(self, like: Mapping[str, Any]) -> int:
        """How many rows are `like`."""
        return len(self._select(like)) if self.table.keys.keys() >= like.keys() else 0

    def distinct(self, key: str, like: Mapping[str, Any] | None = None) -> list[Any]:
        """Every value of a key column, sorted, in the rows that are `like`; none where the file lacks a column."""
        if not self.table.keys.keys() >= {key, *(like or ())}:
            return []
        values = self.table.keys[key]
        return sorted(set((values if like is None else values[self._select(like)]).tolist()))

    def find(self, component: str, operator: str, key: Mapping[str, Any], longest_tokens: int = 0) -> VidurReference:
        """The reference of `operator` at `key`, from rows whose `max_model_len` is at least `longest_tokens`.

        A key may leave out a column in which the rows it selects agree. Raises `OracleError` while an estimate is
        being made.
        """
        require_open_oracle()
        if operator not in self.table.milliseconds:
            if operator in PHASE_OF and "is_prefill" not in self.table.keys:
                return not_covered(component, Reason("no column", f"{self.name} has no is_prefill to match"), operator)
            return not_covered(
                component, Reason("no column", f"{self.name} has no time_stats.{operator}.median"), operator
            )
        dimensions = _dimensions(operator, key)
        if missing := [column for column in dimensions if column not in self.table.keys]:
            return not_covered(component, Reason("no column", f"{self.name} has no {missing[0]} to match"), operator)
        rows = self._select(dimensions)
        if longest_tokens and len(rows):
            if "max_model_len" not in self.table.keys:
                return not_covered(
                    component, Reason("no column", f"{self.name} has no max_model_len to match"), operator
                )
            long_enough = rows[self.table.keys["max_model_len"][rows] >= longest_tokens]
            if not len(long_enough):
                longest = int(self.table.keys["max_model_len"][rows].max())
                rule = f"measured up to max_model_len {longest:,}, the context is {longest_tokens:,}"
                return not_covered(component, Reason("no row", f"{self.name} {rule}"), operator)
            rows = long_enough
        if not len(rows):
            detail = f"{self.name} has none with {self._missing_in(dimensions)}"
            return not_covered(component, Reason("no row", detail), operator)
        if open_column := self._undecided(operator, dimensions, rows):
            detail = f"{self.name} has several values of {open_column} here; the key must say which"
            return not_covered(component, Reason("no row", detail), operator)
        return self._median(component, operator, rows)

    @cached_property
    def _order(self) -> tuple[str, Any, Any] | None:
        column = _SORTED_BY[self.table.kind.name]
        if column not in self.table.keys:
            return None
        order = np.argsort(self.table.keys[column], kind="stable")
        return column, order, self.table.keys[column][order]

    def _select(self, dimensions: Mapping[str, Any]) -> Any:
        """Rows of the file, ascending."""
        chosen: Any = np.arange(len(self.table))
        if self._order is not None and self._order[0] in dimensions:
            column, order, values = self._order
            wanted = dimensions[column]
            chosen = order[np.searchsorted(values, wanted, "left") : np.searchsorted(values, wanted, "right")]
        for column, value in dimensions.items():
            chosen = chosen[self.table.keys[column][chosen] == value]
        return chosen

    def _undecided(self, operator: str, dimensions: Mapping[str, Any], rows: Any) -> str | None:
        ignored = {"max_model_len"} if operator == "emb" else {"max_model_len", _EMBEDDING_ONLY}
        for column, values in self.table.keys.items():
            if column not in dimensions and column not in ignored and (values[rows] != values[rows[0]]).any():
                return column
        return None

    def completed(self, operator: str, key: Mapping[str, Any]) -> dict[str, Any]:
        """`key` with the columns it left out, as the first row that it selects for `operator` has them."""
        rows = self._select(_dimensions(operator, key))
        first = {} if not len(rows) else {column: values[rows[0]] for column, values in self.table.keys.items()}
        return {column: int(v) if isinstance(v, np.integer) else v for column, v in {**first, **key}.items()}

    def _missing_in(self, dimensions: Mapping[str, Any]) -> str:
        """What no row has: one column's value where that is enough, else the whole key."""
        for column, value in dimensions.items():
            if not (self.table.keys[column] == value).any():
                return f"{column} {_text(value)}"
        return ", ".join(f"{column} {_text(value)}" for column, value in dimensions.items())

    def _median(self, component: str, operator: str, rows: Any) -> VidurReference:
        times = self.table.milliseconds[operator][rows]
        measured = times[~np.isnan(times)].tolist()
        faults = self.table.faults.get(operator, {})
        fault = next((faults[row] for row in rows.tolist() if row in faults), None)
        if fault is None:
            reason = Reason("no row", f"{self.name} leaves time_stats.{operator}.median empty here")
        else:
            detail = f"{self.name}, line {fault.line}: {fault.column} {fault.rule}, got {fault.got}"
            reason = Reason("faulty cell", detail)
        if not measured:
            return not_covered(component, reason, operator)
        found = VidurReference(
            component=component,
            operator=operator,
            state="matched",
            seconds=median(measured) / 1000,
            samples=len(measured),
            spread_seconds=(max(measured) - min(measured)) / 1000,
        )
        return found if fault is None else replace(found, state="flagged", kind=reason.kind, detail=reason.detail)


def _dimensions(operator: str, key: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of `key` that matter to `operator`."""
    return {column: value for column, value in key.items() if column != _EMBEDDING_ONLY or operator == "emb"}


def _text(value: Any) -> str:
    return format_count(value) if isinstance(value, int) else str(value)
