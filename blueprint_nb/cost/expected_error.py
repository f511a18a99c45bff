"""How far off a fitted form may be: the residuals of what it never saw, wider where it is asked beyond that.

    high = seconds · (1 + (e^q − 1) · widening),  low = seconds / (1 + (e^q − 1) · widening)

q is what nine of ten held-out kernels' |ln(measured / estimate)| lie within: between the mean sizes of two octaves a
line over log₂(size), beyond the first and the last what those have. Widening is 1 within the range that was observed;
half as much again for each doubling above it, a quarter for each below (a smaller kernel nears its floor, which was
observed); twice that for parameters that were fitted to another family; and at most 4. These factors are estimates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from .bands import Band
from .calibration import FamilyFit, OctaveResiduals

_WIDER_PER_DOUBLING: Final = 0.5
_WIDER_IF_BORROWED: Final = 2.0
_WIDEST: Final = 4.0
_BELOW: Final = 0.5
"""A doubling below the range counts as so much of one above it."""


def doublings_outside(ranges: Mapping[str, tuple[int, int]], shape: Mapping[str, Any]) -> Any:
    """Doublings between a shape and the ranges that were observed, over all dimensions; 0 inside them.

    Those below it count half.
    """
    total: Any = 0.0
    for name, (lowest, highest) in ranges.items():
        size = np.maximum(np.asarray(shape[name], dtype=np.float64), 1.0)
        total = total + np.log2(np.maximum(size / highest, 1.0)) + _BELOW * np.log2(np.maximum(lowest / size, 1.0))
    return total


def widening(doublings: Any, *, borrowed: bool = False) -> Any:
    """How much wider a band is so many `doublings` outside, and for parameters that are `borrowed`."""
    wider = 1.0 + _WIDER_PER_DOUBLING * np.asarray(doublings, dtype=np.float64)
    return np.minimum(wider * (_WIDER_IF_BORROWED if borrowed else 1.0), _WIDEST)


def narrowed(residual: Any, doublings: Any) -> Any:
    """ln(measured / estimate) of rows so many `doublings` outside, as it would be within the range.

    The rule of `Spread.band`, the other way round.
    """
    return np.copysign(np.log1p(np.expm1(np.abs(residual)) / widening(doublings)), residual)


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


@dataclass(frozen=True, eq=False, slots=True)
class Spread:
    """How far a family's kernels lie from its estimates, by size: a fit's residuals, ready to be looked up.

    Arrays of shape (octaves,), ascending.
    """

    places: Any
    """log₂ of sizes."""
    reaches: Any
    """Of |ln(measured / estimate)| there."""

    @classmethod
    def of(cls, residuals: Sequence[OctaveResiduals]) -> Self:
        """Of a fit's residuals, at least one."""
        ascending = sorted(residuals, key=lambda one: one.octave)
        return cls(np.log2([one.size for one in ascending]), np.array([one.reach for one in ascending]))

    def reach_at(self, size: Any) -> Any:
        """The reach at sizes ≥ 1."""
        return np.interp(np.log2(np.asarray(size, dtype=np.float64)), self.places, self.reaches)

    def band(self, size: Any, seconds: Any, doublings: Any, *, borrowed: bool) -> Band:
        """The band about `seconds` of shapes of a `size` (ints ≥ 1)."""
        factor = 1.0 + np.expm1(self.reach_at(size)) * widening(doublings, borrowed=borrowed)
        return Band(seconds / factor, seconds * factor)


def spread_of(residuals: Sequence[OctaveResiduals]) -> Spread | None:
    """Of a fit's residuals; None where nothing was held out."""
    return Spread.of(residuals) if residuals else None
