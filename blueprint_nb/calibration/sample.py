"""What a fit sees: kernels of one family on one machine, and how much each counts.

A row counts so that each component, and of it each octave of size (from one power of two to the next), adds up to the
same weight: most rows of a profile are large, and a plain mean would hide decode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..cost.families import Family, Machine


@dataclass(frozen=True, eq=False)
class Sample:
    """Arrays of shape (rows,)."""

    machine: Machine
    shape: Mapping[str, Any]
    """Dimension to int64 array."""
    seconds: Any
    """Measured: float64."""
    group: Any
    """int64: rows of one number are one component, or one kind of shape where a source has one component."""
    octave: Any
    """int64: `octave_of` the size that grows with the work."""
    form: Family | None = None
    """What times it, where that is not the family that is fitted: a collective over another link."""

    def __len__(self) -> int:
        return len(self.seconds)

    @property
    def weights(self) -> Any:
        """Of each row; they add up to 1."""
        return balanced_weights(self.group, self.octave)

    def take(self, rows: Any) -> Sample:
        """The rows of a mask or of indices."""
        shape = {name: values[rows] for name, values in self.shape.items()}
        return Sample(self.machine, shape, self.seconds[rows], self.group[rows], self.octave[rows], self.form)

    def thinned(self, rows: int, seed: int) -> Sample:
        """At most `rows` of them, drawn by their weights without putting back; the same for the same seed."""
        if len(self) <= rows:
            return self
        drawn = np.random.default_rng(seed).choice(len(self), rows, replace=False, p=self.weights)
        return self.take(np.sort(drawn))


def balanced_weights(group: Any, octave: Any) -> Any:
    """Weights that give each (group, octave) the same sum, 1 in all."""
    cells = np.stack([np.asarray(group, dtype=np.int64), np.asarray(octave, dtype=np.int64)])
    _, cell, count = np.unique(cells, axis=1, return_inverse=True, return_counts=True)
    return 1.0 / (count[cell.reshape(-1)] * len(count))
