"""Runs of shapes that grow, and which rows of a run decide what may win between them.

No alternative of a form takes less time as these dimensions grow. So one that takes longer at a row than the quickest
takes at a later row of its run is the quickest of no row between: leaving it out changes no bit of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

ROUNDING: Final = 1e-9
"""Far more than what rounding takes from a time that should not fall."""

_BETWEEN: Final = 16
"""Rows from one knot to the next."""

FEW: Final = 16
"""So many rows are sooner asked for with all alternatives than searched for those that may win."""


@dataclass(frozen=True, slots=True)
class Knots:
    """Rows at which all alternatives are asked for; each run's first and last are among them."""

    rows: Any
    """Their indices."""
    next: Any
    """Of each knot the one after it in its run, and of a run's last knot itself: index into `rows`."""
    below: Any
    """Of each row the knot at it or before it: index into `rows`."""


def knots(growing: Sequence[Any], others: Sequence[Any] = ()) -> Knots:
    """Of dimensions as arrays of shape (rows,): in a run no `growing` one falls and the `others` stay what they are."""
    ends = np.zeros(len(growing[0]), dtype=np.bool_)
    ends[-1] = True
    for one in growing:
        ends[:-1] |= one[1:] < one[:-1]
    for one in others:
        ends[:-1] |= one[1:] != one[:-1]
    starts = np.append(True, ends[:-1])
    run = np.cumsum(starts) - 1
    place = np.arange(len(ends)) - np.flatnonzero(starts)[run]
    is_knot = ends | (place % _BETWEEN == 0)
    rows = np.flatnonzero(is_knot)
    return Knots(rows, np.arange(len(rows)) + ~ends[rows], np.cumsum(is_knot) - 1)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Each row with each of its alternatives that may win: arrays of shape (pairs,), row after row."""

    row: Any
    alternative: Any
    first: Any
    """Of each row its first pair: shape (rows,)."""

    def first_of(self, mask: Any) -> Any:
        """Of each row its first pair within `mask`, which has one of each: indices of shape (rows,)."""
        within = np.flatnonzero(mask)
        return within[np.searchsorted(self.row[within], np.arange(len(self.first)))]


def all_pairs(rows: int, alternatives: int) -> Pairs:
    """Each row with each alternative."""
    row = np.repeat(np.arange(rows), alternatives)
    return Pairs(row, np.tile(np.arange(alternatives), rows), np.arange(rows) * alternatives)


def pairs(may_win: Any, below: Any) -> Pairs:
    """Of a mask of shape (knots, alternatives), and the knot of each row."""
    _, alternatives = np.nonzero(may_win)
    counts = may_win.sum(axis=1)
    offsets = np.cumsum(counts) - counts
    counts = counts[below]
    first = np.cumsum(counts) - counts
    row = np.repeat(np.arange(len(below)), counts)
    return Pairs(row, alternatives[np.arange(len(row)) + (offsets[below] - first)[row]], first)
