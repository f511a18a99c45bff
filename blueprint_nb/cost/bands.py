"""The band that a time lies in with nine chances of ten, of one component and of sums of them.

A component's band comes from how far off its family was on kernels that it was not fitted to. Errors within a family
go together by a fitted correlation ρ, those of different families do not:

    half-width² = Σ over families of (1 − ρ) · Σ dᵢ² + ρ · (Σ dᵢ)²,  dᵢ = executions · half-width of component i

on each side by itself, so a band may be lopsided. A component's executions, and its decode steps, err alike: their
half-widths add up. Source: the variance of a sum of equally correlated variables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import numpy as np

BAND_FRACTION: Final = 0.9
"""Of times that lie in a band."""


@dataclass(frozen=True, slots=True)
class Band:
    """Seconds that enclose nine times of ten; floats, or float64 arrays of one shape."""

    low_seconds: Any
    high_seconds: Any


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far one component's share of a sum may lie below and above: its half-widths, all executions counted."""

    family: str
    correlation: Any
    """Of this family's errors; a number, or an array of the shape of the half-widths."""
    below_seconds: Any
    above_seconds: Any

    def summed(self, steps: int) -> Deviation:
        """Of as many steps together, whose half-widths are arrays of shape (steps,) or alike in each.

        Of the correlations of the steps the largest counts.
        """
        sides = (np.broadcast_to(side, (steps,)).sum() for side in (self.below_seconds, self.above_seconds))
        return Deviation(self.family, float(np.max(self.correlation)), *sides)


def band_of_sum(seconds: Any, deviations: Iterable[Deviation]) -> Band:
    """The band of a sum of `seconds` whose parts deviate so."""
    families: dict[str, list[Deviation]] = {}
    for one in deviations:
        families.setdefault(one.family, []).append(one)
    below: Any = 0.0
    above: Any = 0.0
    for of_family in families.values():
        correlation = reduce(np.maximum, (one.correlation for one in of_family))
        below = below + _variance([one.below_seconds for one in of_family], correlation)
        above = above + _variance([one.above_seconds for one in of_family], correlation)
    return Band(np.maximum(seconds - np.sqrt(below), 0.0), seconds + np.sqrt(above))


def _variance(half_widths: list[Any], correlation: Any) -> Any:
    squares: Any = 0.0
    total: Any = 0.0
    for one in half_widths:
        squares = squares + one * one
        total = total + one
    return (1.0 - correlation) * squares + correlation * total * total
