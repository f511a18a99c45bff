"""The calibrated forms as a predictor: fitted as `study` fits them for the parameter files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from ..cost.families import Family
from .errors import estimates
from .fitting import Fitting, Values
from .predict import Pricing, Training
from .sample import Sample

CALIBRATED: Final = "calibrated"


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The form of the family with fitted parameters, of each measured device; of all others, for any other device."""

    fitting: Fitting = field(default_factory=Fitting)
    name: str = CALIBRATED

    def learned(self, family: Family, training: Training) -> Pricing:
        """Raises `MissingExtraError` without scipy."""
        of_devices: dict[str, Values] = {}
        of_all: Values = {}

        def priced(target: str, sample: Sample) -> Any:
            if target in training:
                if not of_devices:
                    of_devices.update(self.fitting.of_devices(family, training, training))
                return estimates(family, sample, of_devices[target])
            if not of_all:
                of_all.update(self.fitting.of_all(family, training))
            return estimates(family, sample, of_all)

        return priced
