"""The usual rule of thumb as a bar to beat: a family reaches one fraction of its roofline, whatever the size.

The fraction is the median of roofline / measured, each row counted alone: one number can't serve small kernels and
large ones, and most of what is measured is large.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..cost.families import Family
from .bars_work import Work, work_of
from .predict import Pricing, Training, by_device
from .sample import Sample


class ConstantEfficiency:
    """roofline / fraction."""

    name = "constant efficiency"

    def learned(self, family: Family, training: Training) -> Pricing:
        """One fraction for a device, or for all."""

        def learn(samples: Sequence[Sample]) -> Callable[[Sample], Any]:
            works = [work_of(family.name, one.shape, one.machine) for one in samples]
            fraction = float(np.median(efficiencies(works, samples)))
            return lambda asked: work_of(family.name, asked.shape, asked.machine).roofline_seconds / fraction

        return by_device(training, learn)


def efficiencies(works: Sequence[Work], samples: Sequence[Sample]) -> Any:
    """roofline / measured of the rows of all samples."""
    pairs = zip(works, samples, strict=True)
    return np.concatenate([work.roofline_seconds / sample.seconds for work, sample in pairs])
