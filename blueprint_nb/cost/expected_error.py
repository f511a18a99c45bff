"""How far off a fitted form may be: the residuals of what it never saw, wider where it is asked beyond that.

    high = seconds · (1 + (e^q₉₅ − 1) · widening),  low = seconds / (1 + (e^−q₅ − 1) · widening)

q are quantiles of ln(measured / estimate): those of the octave of size that the shape is of, or of the last below it
that was held out, or the first of all. Widening is 1 within the range that was observed and as far beyond it as the
held-out kernels lay on the mean; half as much again for each doubling further above, an eighth for each below (a
smaller kernel nears its floor, which was observed); twice that for parameters that were fitted to another family; and
at most 4. These factors are estimates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from .bands import Band
from .calibration import FamilyFit, OctaveResiduals
from .octaves import octave_of

_WIDER_PER_DOUBLING: Final = 0.5
_WIDER_IF_BORROWED: Final = 2.0
_WIDEST: Final = 4.0
_BELOW: Final = 0.25
"""A doubling below the range counts as so much of one above it."""


def doublings_outside(ranges: Mapping[str, tuple[int, int]], shape: Mapping[str, Any]) -> Any:
    """Doublings between a shape and the ranges that were observed, over all dimensions; 0 inside them.

    Those below it count a quarter.
    """
    total: Any = 0.0
    for name, (lowest, highest) in ranges.items():
        size = np.maximum(np.asarray(shape[name], dtype=np.float64), 1.0)
        total = total + np.log2(np.maximum(size / highest, 1.0)) + _BELOW * np.log2(np.maximum(lowest / size, 1.0))
    return total


def widening(doublings: Any, tried: float = 0.0) -> Any:
    """How much wider a band is so many `doublings` outside, where its residuals come from `tried` of them."""
    return 1.0 + _WIDER_PER_DOUBLING * np.maximum(np.asarray(doublings) - tried, 0.0)


def outside_dimensions(fit: FamilyFit, shape: Mapping[str, Any]) -> tuple[Any, tuple[tuple[str, ...], ...]]:
    """Which dimensions are outside the range that was observed, point by point.

    An int64 array of the points' shape, and for each number in it the names; none within the range.
    """
    code: Any = 0
    for bit, (name, (lowest, highest)) in enumerate(fit.ranges.items()):
        size = shape[name]
        code = code + ((size < lowest) | (size > highest)) * (1 << bit)
    code = np.asarray(code, dtype=np.int64)
    first = code.flat[0]
    if (code == first).all():
        # Points that are alike, one or many, need no sorting.
        codes, index = [int(first)], np.zeros(code.shape, dtype=np.int64)
    else:
        found, index = np.unique(code, return_inverse=True)
        codes, index = found.tolist(), index.reshape(code.shape)
    return index, tuple(tuple(name for bit, name in enumerate(fit.ranges) if one >> bit & 1) for one in codes)


@dataclass(frozen=True, slots=True)
class Spread:
    """How far a family's kernels lie from its estimates, by octaves of size: a fit's residuals, ready to be looked up.

    Arrays of shape (octaves,), ascending from `first_octave`.
    """

    first_octave: int
    below: Any
    """(e^−q₅ − 1)."""
    above: Any
    """(e^q₉₅ − 1)."""
    tried_doublings: float = 0.0
    """Outside the observed range, where the residuals come from."""

    @classmethod
    def of(cls, residuals: Sequence[OctaveResiduals], tried_doublings: float = 0.0) -> Self:
        """Of a fit's residuals, at least one."""
        ascending = sorted(residuals, key=lambda one: one.octave)
        low, high = _quantiles(ascending)
        # A band holds its own estimate, whatever the residuals lean to.
        below, above = np.expm1(np.maximum(-low, 0.0)), np.expm1(np.maximum(high, 0.0))
        return cls(ascending[0].octave, below, above, tried_doublings)

    def band(self, size: Any, seconds: Any, doublings: Any, *, borrowed: bool) -> Band:
        """The band about `seconds` of shapes of a `size` (ints ≥ 1)."""
        nearest = np.minimum(np.maximum(octave_of(size) - self.first_octave, 0), len(self.below) - 1)
        wider = widening(doublings, self.tried_doublings) * (_WIDER_IF_BORROWED if borrowed else 1.0)
        wider = np.minimum(wider, _WIDEST)
        below, above = self.below[nearest], self.above[nearest]
        return Band(seconds / (1.0 + below * wider), seconds * (1.0 + above * wider))


def spread_of(residuals: Sequence[OctaveResiduals], tried_doublings: float = 0.0) -> Spread | None:
    """Of a fit's residuals; None where nothing was held out."""
    return Spread.of(residuals, tried_doublings) if residuals else None


def _quantiles(residuals: Sequence[OctaveResiduals]) -> tuple[Any, Any]:
    """(low, high) of every octave from the first to the last, ascending; of the one before where one is missing."""
    found = {one.octave: one for one in residuals}
    last = residuals[0]
    low, high = [], []
    for octave in range(residuals[0].octave, residuals[-1].octave + 1):
        last = found.get(octave, last)
        low.append(last.low)
        high.append(last.high)
    return np.array(low), np.array(high)
