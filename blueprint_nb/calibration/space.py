"""A family's parameters as a vector that a fit can move.

Scales move by factors, so their logarithm stands in the vector; fractions that may be 0 stand as they are. A fit ends
on a lattice: values that differ by rounding alone, between machines or libraries, become the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ..cost.families import Family

LATTICE: Final = 1.0 / 256
"""Distance of neighbours: 0.4 % of a scale."""


class ParameterSpace:
    """Vectors of shape (parameters,), float64, between `lowest` and `highest`."""

    def __init__(self, family: Family) -> None:
        self._parameters = family.parameters
        self.start = self.vector({one.name: one.start for one in self._parameters})
        self.lowest = self.vector({one.name: one.lowest for one in self._parameters})
        self.highest = self.vector({one.name: one.highest for one in self._parameters})

    def vector(self, values: Mapping[str, float]) -> Any:
        """The vector of values by name."""
        return np.array([np.log(values[one.name]) if one.is_scale else values[one.name] for one in self._parameters])

    def values(self, vector: Any) -> dict[str, float]:
        """Values by name, kept within their bounds."""
        pairs = zip(self._parameters, vector, strict=True)
        named = {one.name: float(np.exp(at)) if one.is_scale else float(at) for one, at in pairs}
        return {one.name: min(max(named[one.name], one.lowest), one.highest) for one in self._parameters}

    def on_lattice(self, vector: Any) -> Any:
        """The nearest vector of the lattice."""
        return np.round(vector / LATTICE) * LATTICE
