"""What measured kernels teach about shapes near theirs: a correction r of the fitted form's time t.

    r = Σ wₛ · rₛ / (Σ wₛ + λ),  coverage = Σ wₛ / (Σ wₛ + λ),  wₛ = fadeₛ · exp(−½ Σ (Δ log₂ d / h_d)²)

over measured shapes s and the dimensions d that a model fixes. rₛ is ln(measured / t) along the size that grows with
the work, m for short: of medians made non-decreasing in m (isotonic regression of their logarithms, by pooling adjacent
violators), linear in log₂ m in between. fadeₛ is 1 where s was measured and falls to 0 over a doubling of m beyond.

Time never falls as m grows: at knots (every second measured m, and where a shape's measurements begin, end and have
faded) it is T = the largest of t · eʳ so far, and from one knot to the next T climbs in step with t. So where t hardly
grows beyond the last, T stays at what it was there until t gets to it, though nothing covers it any more. Left out:
anything from one device to another. Source: kernel regression (Nadaraya 1964, Watson 1964), shrunk to 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from .kernels import DIMENSIONS

BANDWIDTHS: Final[Mapping[str, Mapping[str, float]]] = {
    "gemm": {"n": 0.1, "k": 0.35},
    "gated_activation": {"width": 0.35},
}
"""Family to h in doublings, by dimension: of Vidur's blocks the only families that err less with a layer where a model
is held out. h and λ are round figures of what did best there; with half or twice as much of one they err less, too."""

SHRINKAGE: Final = 0.3
"""λ: a single shape that is met exactly has a coverage of 0.77."""

_LEAST_COVERAGE: Final = 1e-3
"""Below it everywhere, a shape is left alone."""

_EVERY: Final = 2
"""Knots are every second measured m: neighbours differ by noise."""

_MOST_CURVES: Final = 1024
"""That are kept: a shape is asked for again and again."""

_ROUNDING: Final = 1e-9
"""A time so little above the form's is the form's."""

SecondsOf = Callable[[Mapping[str, Any]], Any]
"""The fitted form: float64 of shape (rows,), of int64 arrays by dimension."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """Arrays of the points' shape."""

    seconds: Any
    """The form's own, to the bit, where it is not `is_corrected`."""
    coverage: Any
    """From 0 to 1."""
    is_corrected: Any


@dataclass(frozen=True, slots=True)
class _Curve:
    """One fixed shape over all knots: arrays of shape (knots,)."""

    form_seconds: Any
    seconds: Any


class ResidualLayer:
    """Of one family, in elements of one length, on one device."""

    def __init__(self, family: str, shape: Mapping[str, Any], seconds: Any, seconds_of: SecondsOf) -> None:
        """Learned from measured `seconds` (float64) of shapes of a family of `BANDWIDTHS`, at least one.

        `shape` gives int64 arrays of shape (rows,) by dimension.
        """
        self._fixed = tuple(BANDWIDTHS[family])
        self._bandwidths = np.array(list(BANDWIDTHS[family].values()))
        (self._size,) = (name for name in DIMENSIONS[family] if name not in self._fixed)
        self._seconds_of = seconds_of
        self.samples = len(seconds)
        names = (*self._fixed, self._size)
        distinct, medians = _medians({name: shape[name] for name in names}, seconds)
        form = seconds_of(dict(zip(names, distinct, strict=True)))
        fixed, start = np.unique(distinct[:-1], axis=1, return_index=True)
        # Sorted by the fixed dimensions first, so that each of their combinations is a run in ascending size.
        sizes, measured, estimated = (
            np.split(column, start[1:]) for column in (distinct[-1], np.log(medians), np.log(form))
        )
        residuals = [non_decreasing(one) - other for one, other in zip(measured, estimated, strict=True)]
        ends = [(int(one[0]), int(one[-1])) for one in sizes]
        self._shapes = np.log2(fixed.T)
        self._ends = np.log2(ends)
        self._knots = _knots(distinct[-1], ends)
        places = np.log2(self._knots)
        self._residuals = np.stack(
            [np.interp(places, np.log2(one), of_shape) for one, of_shape in zip(sizes, residuals, strict=True)]
        )
        self._curve = lru_cache(maxsize=_MOST_CURVES)(self._worked_out)

    def corrected(self, shape: Mapping[str, Any], seconds: Any) -> Corrected:
        """Of shapes, ints or int64 arrays that broadcast to that of `seconds`, which the form says of them."""
        seconds = np.asarray(seconds, dtype=np.float64)
        points = np.broadcast_shapes(seconds.shape, *(np.shape(size) for size in shape.values()))
        flat = {name: np.broadcast_to(shape[name], points).reshape(-1) for name in (*self._fixed, self._size)}
        found = np.broadcast_to(seconds, points).reshape(-1).copy()
        coverage, is_corrected = np.zeros(len(found)), np.zeros(len(found), dtype=bool)
        fixed, index = np.unique(np.stack([flat[name] for name in self._fixed]), axis=1, return_inverse=True)
        for number in range(fixed.shape[1]):
            key = tuple(fixed[:, number].tolist())
            weights = self._weights(key)
            if weights.sum() < _LEAST_COVERAGE * (weights.sum() + SHRINKAGE):
                continue
            rows = np.flatnonzero(index.reshape(-1) == number)
            sizes = flat[self._size][rows]
            new, own = self._along(self._curve(key), sizes, found[rows]), self._coverage(weights, sizes)
            # Where the largest time so far still counts, there is no coverage, yet a correction.
            is_other = (own > 0.0) | (new > found[rows] * (1.0 + _ROUNDING))
            found[rows] = np.where(is_other, new, found[rows])
            coverage[rows], is_corrected[rows] = own, is_other
        return Corrected(found.reshape(points), coverage.reshape(points), is_corrected.reshape(points))

    def _weights(self, fixed: tuple[int, ...]) -> Any:
        """Of each measured shape, where it was measured: array of shape (shapes,)."""
        apart = (np.log2(fixed) - self._shapes) / self._bandwidths
        return np.exp(-0.5 * (apart**2).sum(axis=1))

    def _faded(self, weights: Any, sizes: Any) -> Any:
        """Array of shape (shapes, sizes)."""
        places = np.log2(sizes)
        beyond = np.maximum(self._ends[:, :1] - places, places - self._ends[:, 1:])
        return weights[:, None] * np.clip(1.0 - beyond, 0.0, 1.0)

    def _coverage(self, weights: Any, sizes: Any) -> Any:
        distinct, index = np.unique(sizes, return_inverse=True)
        total = self._faded(weights, distinct).sum(axis=0)
        return (total / (total + SHRINKAGE))[index]

    def _worked_out(self, fixed: tuple[int, ...]) -> _Curve:
        knots = self._knots
        named = {name: np.full(len(knots), size) for name, size in zip(self._fixed, fixed, strict=True)}
        form = self._seconds_of({**named, self._size: knots})
        weights = self._faded(self._weights(fixed), knots)
        residual = (weights * self._residuals).sum(axis=0) / (weights.sum(axis=0) + SHRINKAGE)
        return _Curve(form, np.maximum.accumulate(form * np.exp(residual)))

    def _along(self, curve: _Curve, sizes: Any, seconds: Any) -> Any:
        """The corrected time of each size (int64), beside the form's `seconds`: arrays of shape (rows,)."""
        knots = self._knots
        first = np.clip(np.searchsorted(knots, sizes, side="right") - 1, 0, len(knots) - 1)
        last = np.minimum(first + 1, len(knots) - 1)
        climb = curve.form_seconds[last] - curve.form_seconds[first]
        share = np.clip((seconds - curve.form_seconds[first]) / np.where(climb > 0.0, climb, np.inf), 0.0, 1.0)
        low, high = curve.seconds[first], curve.seconds[last]
        between = np.clip(low + (high - low) * share, low, high)
        return np.select([sizes < knots[0], first == last], [seconds, np.maximum(seconds, high)], between)


def non_decreasing(values: Any) -> Any:
    """The non-decreasing sequence nearest to `values` by squares: float64 of their shape (rows,).

    SciPy has it too, but only the extras for fitting bring SciPy.
    """
    means: list[float] = []
    counts: list[int] = []
    for value in np.asarray(values, dtype=np.float64).tolist():
        mean, count = value, 1
        while means and means[-1] > mean:
            before = counts.pop()
            mean = (means.pop() * before + mean * count) / (before + count)
            count += before
        means.append(mean)
        counts.append(count)
    return np.repeat(means, counts)


def _medians(shape: Mapping[str, Any], seconds: Any) -> tuple[Any, Any]:
    """Distinct shapes, ascending by the first dimension, then the next: int64 of shape (dimensions, shapes); and the
    median of each.
    """
    import polars as pl

    names = list(shape)
    rows = pl.DataFrame({**shape, "seconds": seconds})
    found = rows.group_by(names).agg(pl.col("seconds").median()).sort(names)
    return found.select(names).to_numpy().T, found["seconds"].to_numpy()


def _knots(sizes: Any, ends: list[tuple[int, int]]) -> Any:
    """Every second measured size, and where each shape begins and ends to be measured and to fade: int64, ascending."""
    corners = [place for low, high in ends for place in (max(low // 2, 1), low, high, 2 * high)]
    return np.unique(np.concatenate([np.unique(sizes)[::_EVERY], np.array(corners, dtype=np.int64)]))
