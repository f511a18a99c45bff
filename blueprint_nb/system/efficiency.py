"""Efficiency curves: the fraction of a peak that an operation of a given size reaches.

Steps, as measured tables have them: the first threshold, largest first, that the work reaches gives the
fraction. A curve like this is not monotone in time: where work crosses a threshold, time falls.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from .._schema import Number, Record
from ..errors import InvalidInputError
from ..units import GIGA, MEGA

Fraction = Annotated[Number, Field(ge=1e-4, le=1)]
Threshold = Annotated[Number, Field(ge=0, le=10**9)]


class ComputeStep(Record):
    """From `at_least_gflop` of work on, an engine reaches `fraction` of its peak."""

    at_least_gflop: Threshold
    fraction: Fraction

    @property
    def threshold(self) -> float:
        """Of the work, in operations."""
        return self.at_least_gflop * GIGA


class MemoryStep(Record):
    """From `at_least_mb` of traffic on, memory reaches `fraction` of its bandwidth."""

    at_least_mb: Threshold
    fraction: Fraction

    @property
    def threshold(self) -> float:
        """Of the work, in bytes."""
        return self.at_least_mb * MEGA


def check_curve(steps: tuple[ComputeStep, ...] | tuple[MemoryStep, ...]) -> None:
    """Raises `InvalidInputError` unless thresholds fall from step to step and end at 0."""
    given = [step.at_least_gflop if isinstance(step, ComputeStep) else step.at_least_mb for step in steps]
    if not given or given[-1] != 0 or given != sorted(set(given), reverse=True):
        raise InvalidInputError(
            "efficiency",
            got=", ".join(f"{threshold:,.12g}" for threshold in given) or "none",
            rule="must list falling thresholds that end at 0",
            next_step="Every amount of work needs exactly one fraction.",
        )


def fractions(steps: tuple[ComputeStep, ...] | tuple[MemoryStep, ...], work: Any) -> Any:
    """The fraction each amount of `work` (float64 operations or bytes, any shape) reaches, same shape."""
    rising = steps[::-1]
    thresholds = np.array([step.threshold for step in rising])
    table = np.array([step.fraction for step in rising])
    return table[np.searchsorted(thresholds, work, side="right") - 1]
