"""A y-axis that stays while controls are dragged, so that a chart's line moves and not its scale."""

from __future__ import annotations

import math

_ROOM = 1.15
_LEAST_FILLED = 0.25
_STEPS = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)


class SteadyAxis:
    """From 0 to a round top, which changes only when values leave it or shrink to a quarter of it."""

    def __init__(self) -> None:
        self._top = 0.0

    def domain(self, largest: float) -> tuple[float, float]:
        """The axis for values of up to `largest`."""
        if not _LEAST_FILLED * self._top <= largest <= self._top / 1.02:
            self._top = _round_up(largest * _ROOM)
        return (0.0, self._top)


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value)) if value > 0 else 1.0
    return next(step * power for step in _STEPS if step * power >= value * (1 - 1e-9))
