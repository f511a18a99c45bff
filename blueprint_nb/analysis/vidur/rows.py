"""The rows of a profile file that a key selects, and the median of their times.

A key selects by equality alone: no nearest row and no interpolation. Rows are kept in the order of one key, so that a
look-up in a file of a million rows reads few of them.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any, Final, Self

import numpy as np

from ...errors import InvalidInputError, nearest, shown
from ...evidence.vidur import PHASE_OF, ProfileTable, read_profile
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

    @classmethod
    def read(cls, path: str | os.PathLike[str], kind: str) -> Self:
        """The file at `path`. Raises as `read_profile`."""
        return cls(read_profile(path, kind))

    @property
    def name(self) -> str:
        """The file's name."""
        return Path(self.table.file).name

    def times(self, name: str, like: Mapping[str, Any]) -> bool | None:
        """Whether the rows that are `like` time the operator, rightly or not; None where there is no such row.

        A cell that is empty or 0 means that there is nothing to time.
        """
        if not self.table.keys.keys() >= like.keys():
            return None
        rows = self._select(like)
        if not len(rows):
            return None
        if name not in self.table.milliseconds:
            return False
        faults = self.table.faults.get(name, {})
        wrong = (row in faults and not _is_zero(faults[row].got) for row in rows.tolist())
        return not bool(np.isnan(self.table.milliseconds[name][rows]).all()) or any(wrong)

    def count(self, like: Mapping[str, Any]) -> int:
        """How many rows are `like`."""
        return len(self._select(like)) if self.table.keys.keys() >= like.keys() else 0

    def distinct(self, key: str, like: Mapping[str, Any] | None = None) -> list[Any]:
        """Every value of a key column, sorted, in the rows that are `like`; none where the file lacks a column."""
        if not self.table.keys.keys() >= {key, *(like or ())}:
            return []
        values = self.table.keys[key]
        return sorted(set((values if like is None else values[self._select(like)]).tolist()))

    def find(self, component: str, name: str, key: Mapping[str, Any], longest_tokens: int = 0) -> VidurReference:
        """The reference of operator `name` at `key`, from rows whose `max_model_len` is at least `longest_tokens`.

        A key may leave out a column in which the rows it selects agree. Raises `OracleError` while an estimate is
        being made.
        """
        require_open_oracle()
        if name not in self.table.milliseconds:
            if name in PHASE_OF and "is_prefill" not in self.table.keys:
                return not_covered(component, Reason("no column", f"{self.name} has no is_prefill to match"), name)
            return not_covered(component, Reason("no column", f"{self.name} has no time_stats.{name}.median"), name)
        dimensions = _dimensions(name, key)
        if missing := [column for column in dimensions if column not in self.table.keys]:
            return not_covered(component, Reason("no column", f"{self.name} has no {missing[0]} to match"), name)
        rows = self._select(dimensions)
        if longest_tokens and len(rows):
            if "max_model_len" not in self.table.keys:
                return not_covered(component, Reason("no column", f"{self.name} has no max_model_len to match"), name)
            long_enough = rows[self.table.keys["max_model_len"][rows] >= longest_tokens]
            if not len(long_enough):
                longest = int(self.table.keys["max_model_len"][rows].max())
                rule = f"measured up to max_model_len {longest:,}, the context is {longest_tokens:,}"
                return not_covered(component, Reason("no row", f"{self.name} {rule}"), name)
            rows = long_enough
        if not len(rows):
            missing_in = f"{self.name} has none with {self._nearest_miss(dimensions)}"
            return not_covered(component, Reason("no row", missing_in), name)
        if open_column := self._undecided(name, dimensions, rows):
            detail = f"{self.name} has several values of {open_column} here; the key must say which"
            return not_covered(component, Reason("no row", detail), name)
        return self._median(component, name, rows)

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

    def _undecided(self, name: str, dimensions: Mapping[str, Any], rows: Any) -> str | None:
        ignored = {"max_model_len"} if name == "emb" else {"max_model_len", _EMBEDDING_ONLY}
        for column, values in self.table.keys.items():
            if column not in dimensions and column not in ignored and (values[rows] != values[rows[0]]).any():
                return column
        return None

    def completed(self, name: str, key: Mapping[str, Any]) -> dict[str, Any]:
        """`key` with the columns it left out, as the first row that it selects for operator `name` has them."""
        rows = self._select(_dimensions(name, key))
        first = {} if not len(rows) else {column: values[rows[0]] for column, values in self.table.keys.items()}
        return {column: int(v) if isinstance(v, np.integer) else v for column, v in {**first, **key}.items()}

    def _nearest_miss(self, dimensions: Mapping[str, Any]) -> str:
        """What no row has: one column's value where that is enough, else the whole key."""
        for column, value in dimensions.items():
            if not (self.table.keys[column] == value).any():
                return f"{column} {_text(value)}"
        return ", ".join(f"{column} {_text(value)}" for column, value in dimensions.items())

    def _median(self, component: str, name: str, rows: Any) -> VidurReference:
        times = self.table.milliseconds[name][rows]
        measured = times[~np.isnan(times)].tolist()
        faults = self.table.faults.get(name, {})
        fault = next((faults[row] for row in rows.tolist() if row in faults), None)
        if fault is None:
            reason = Reason("no row", f"{self.name} leaves time_stats.{name}.median empty here")
        else:
            detail = f"{self.name}, line {fault.line}: {fault.column} {fault.rule}, got {fault.got}"
            reason = Reason("faulty cell", detail)
        if not measured:
            return not_covered(component, reason, name)
        found = VidurReference(
            component=component,
            operator=name,
            state="matched",
            seconds=median(measured) / 1000,
            samples=len(measured),
            spread_seconds=(max(measured) - min(measured)) / 1000,
        )
        return found if fault is None else replace(found, state="flagged", kind=reason.kind, detail=reason.detail)


def _dimensions(name: str, key: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of `key` that matter to operator `name`."""
    return {column: value for column, value in key.items() if column != _EMBEDDING_ONLY or name == "emb"}


def checked_key(key: Mapping[str, Any], rows: ProfileRows) -> dict[str, Any]:
    """The columns of `key` that select rows, as a file holds them.

    Raises `InvalidInputError` for a column that is neither in the file nor a key of its kind, and for a value that
    its column can't hold.
    """
    known = {column.name: column for column in rows.table.kind.keys}
    checked: dict[str, Any] = {}
    for name, value in key.items():
        if name in known:
            checked[name] = _checked_value(name, known[name].kind, value)
        elif name not in rows.table.columns:
            near = nearest(str(name), list(known))
            raise InvalidInputError(
                f"key.{name}",
                got=shown(value),
                rule=f"is no key of Vidur's {rows.table.kind.name} files",
                next_step=f"Did you mean {near[0]}?" if near else f"Its keys are {', '.join(known)}.",
            )
    return checked


def backend_name(value: object) -> str:
    """An attention backend without the name of its enum. Raises `InvalidInputError`."""
    text = getattr(value, "name", value)
    name = text.rpartition(".")[2].strip() if isinstance(text, str) else ""
    if not name:
        raise InvalidInputError("attention_backend", got=shown(value), rule="must be text, such as 'FLASH_ATTENTION'")
    return name


def _checked_value(name: str, kind: str, value: Any) -> Any:
    if kind == "backend":
        return backend_name(value)
    if kind == "flag" and isinstance(value, str) and value.lower() in ("true", "false"):
        return int(value.lower() == "true")
    try:
        whole = int(value) if isinstance(value, (float, np.floating, np.bool_)) else operator.index(value)
        if whole != value or not 0 <= whole < 2**63:
            raise ValueError
    except Exception:  # someone else's __index__ may raise anything
        raise InvalidInputError(f"key.{name}", got=shown(value), rule="must be an integer from 0") from None
    return whole


def _is_zero(cell: str) -> bool:
    try:
        return float(cell) == 0.0
    except ValueError:
        return False


def _text(value: Any) -> str:
    return format_count(value) if isinstance(value, int) else str(value)
