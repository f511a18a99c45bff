"""The plainest bar to beat: every kernel at the peaks of its machine. It learns nothing."""

from __future__ import annotations

from typing import Any

from ..cost.families import Family
from .bars_work import work_of
from .predict import Pricing, Training
from .sample import Sample


class PeakRoofline:
    """max(operations / peak, bytes / bandwidth)."""

    name = "peak roofline"

    def learned(self, family: Family, training: Training) -> Pricing:
        """Whatever was measured."""

        def priced(target: str, sample: Sample) -> Any:
            return work_of(family.name, sample.shape, sample.machine).roofline_seconds

        return priced
