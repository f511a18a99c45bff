"""A family's parameters for each of several devices.

A device alone may not tell two parameters apart: it has a few row widths, or one head configuration. So devices
of one source are drawn to a pool of them all, itself drawn to the parameters' own starts. A device that was not
measured takes what fits all others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..cost.families import Family
from .fit import ROWS, Pool, fit, start_pool
from .predict import Training, everything
from .sample import Sample
from .starts import starts_of

START_STRENGTH: Final = 1e-3
"""What a pool's parameter that is a factor e from its own start costs, in mean |ln ratio|."""

_DIGITS: Final = 6
"""Of a value that is written down."""

Values = dict[str, float]
"""Of parameters, by name."""


@dataclass(frozen=True, eq=False)
class Fitting:
    """How a family is fitted."""

    rows: int = ROWS
    """Of each sample that a fit sees."""
    row_share: float = 0.0
    """Of a row's weight that is alike for all; the rest is balanced over octaves and components."""
    pool_strength: float = 3e-4
    """What a parameter of a device that is a factor e from the pool's costs, in mean |ln ratio|."""
    start_strength: float = 0.0
    """The same of a device without a pool, from the parameter's start."""

    def of_devices(self, form: Family, training: Training, targets: Collection[str]) -> dict[str, Values]:
        """Each of the `targets`, where `training` has kernels of it, to its values.

        Raises `MissingExtraError` without scipy.
        """
        wanted = [target for target in training if target in targets]
        if len(training) < 2:
            return {target: self.of_all(form, training) for target in wanted}
        pool = Pool(self._together(form, training), self.pool_strength)
        return {target: _rounded(self._fitted(form, training[target], pool)) for target in wanted}

    def of_all(self, form: Family, training: Training) -> Values:
        """What fits all devices together; of one alone, what fits it. Raises `MissingExtraError` without scipy."""
        return _rounded(self._together(form, training))

    def _together(self, form: Family, training: Training) -> Mapping[str, float]:
        strength = START_STRENGTH if len(training) > 1 else self.start_strength
        return self._fitted(form, everything(training), start_pool(form, strength) if strength else None)

    def _fitted(self, form: Family, samples: Sequence[Sample], pool: Pool | None) -> Mapping[str, float]:
        starts = starts_of(form, samples) if pool is None else [pool.values]
        return fit(form, samples, starts=starts, pool=pool, rows=self.rows, row_share=self.row_share).values


def _rounded(values: Mapping[str, float]) -> Values:
    return {name: rounded(value) for name, value in values.items()}


def rounded(value: float) -> float:
    """A value as it is written down."""
    return float(f"{value:.{_DIGITS}g}")
