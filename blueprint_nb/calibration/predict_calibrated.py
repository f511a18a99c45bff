"""The calibrated forms as a predictor: fitted as `study` fits them for the parameter files.

A pool of all devices, itself drawn to the parameters' own starts, then each measured device drawn to the pool; a
device that was not measured takes the pool's values. Where one device alone was measured there is no pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..cost.families import Family
from .errors import estimates
from .fit import ROWS, Pool, fit, start_pool
from .predict import Pricing, Training, everything
from .sample import Sample
from .starts import starts_of
from .study import POOL_STRENGTH, START_STRENGTH

CALIBRATED: Final = "calibrated"


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The form of the family with fitted parameters."""

    rows: int = ROWS
    """Of each sample that a fit sees."""
    row_share: float = 0.0
    """Of a row's weight that is alike for all (see `Study`)."""
    name: str = CALIBRATED

    def learned(self, family: Family, training: Training) -> Pricing:
        """Raises `MissingExtraError` without scipy."""
        pool = self._pool(family, training) if len(training) > 1 else None
        shared = self._fitted(family, everything(training), None) if pool is None else pool.values
        of_device: dict[str, Mapping[str, float]] = {}

        def priced(target: str, sample: Sample) -> Any:
            if pool is not None and target in training and target not in of_device:
                of_device[target] = self._fitted(family, training[target], pool)
            return estimates(family, sample, of_device.get(target, shared))

        return priced

    def _pool(self, family: Family, training: Training) -> Pool:
        values = self._fitted(family, everything(training), start_pool(family, START_STRENGTH))
        return Pool(values, POOL_STRENGTH)

    def _fitted(self, family: Family, samples: Sequence[Sample], pool: Pool | None) -> Mapping[str, float]:
        starts = starts_of(family, samples) if pool is None else [pool.values]
        found = fit(family, samples, starts=starts, pool=pool, rows=self.rows, row_share=self.row_share)
        return found.values
