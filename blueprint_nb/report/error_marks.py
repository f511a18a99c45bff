"""Where the bar or the point of an error ends. Needs no chart library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FULL_PERCENT: Final = 100.0
"""No estimate is further below its reference; a bar that would pass it above is cut there and marked."""

MIDDLE: Final = 100
"""Where zero is in the drawing of a `Bar`, in its units, of which there is one a percent."""


@dataclass(frozen=True, slots=True)
class Bar:
    """From zero to the error; one that would pass +100 % is cut there."""

    start: float
    length: float
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Whisker:
    """From the error at the low end of a band to that at its high end, both cut where bars are.

    It holds zero exactly where the measurement lies in the band.
    """

    start: float
    length: float


def whisker_of(low_percent: float, high_percent: float) -> Whisker:
    """The whisker of a band, whose ends are errors of the measurement."""
    low, high = cut(low_percent), cut(high_percent)
    return Whisker(round(MIDDLE + low, 1), round(high - low, 1))


def bar_of(percent: float) -> Bar:
    """The bar of an error."""
    end = cut(percent)
    return Bar(round(MIDDLE + min(end, 0.0), 1), round(abs(end), 1), percent > FULL_PERCENT)


def cut(percent: float) -> float:
    """Where a bar ends; more digits than a bar can show make a page longer."""
    return float(f"{max(-FULL_PERCENT, min(FULL_PERCENT, percent)):.4g}")
