"""What learns from measured kernels of a family and then prices others: the calibrated forms, and the bars to beat.

All learn from the same rows and are asked about the same ones. A device that was measured is priced by what its own
rows say; one that was not, by what those of all others say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol

from ..cost.families import Family
from .sample import Sample

Training = Mapping[str, Sequence[Sample]]
"""Device, as its source names it, to its measured kernels."""

Pricing = Callable[[str, Sample], Any]
"""Seconds of the kernels of a sample on a device: float64 of shape (rows,). The sample's seconds are not looked at."""


class Predictor(Protocol):
    """Learns one family's times."""

    @property
    def name(self) -> str:
        """As tables and charts say it."""

    def learned(self, family: Family, training: Training) -> Pricing:
        """What `training`, which holds a kernel at least, teaches."""


class Once:
    """A predictor that learns once from the same training, for itself and for those that build upon it."""

    def __init__(self, predictor: Predictor) -> None:
        self.name = predictor.name
        self._predictor = predictor
        self._latest: tuple[Family, Training, Pricing] | None = None

    def learned(self, family: Family, training: Training) -> Pricing:
        """As the predictor."""
        if self._latest is None or self._latest[0] is not family or self._latest[1] is not training:
            self._latest = (family, training, self._predictor.learned(family, training))
        return self._latest[2]


def everything(training: Training) -> list[Sample]:
    """The samples of all devices."""
    return list(chain.from_iterable(training.values()))


def by_device(training: Training, learn: Callable[[Sequence[Sample]], Callable[[Sample], Any]]) -> Pricing:
    """Pricing by what `learn` makes of a device's own samples; of all, where it has none."""
    learned: dict[str, Callable[[Sample], Any]] = {}

    def priced(target: str, sample: Sample) -> Any:
        known = target if target in training else ""
        if known not in learned:
            learned[known] = learn(training[known] if known else everything(training))
        return learned[known](sample)

    return priced
