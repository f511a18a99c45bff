"""How far two runs of one kernel lie apart, where nobody repeated this one: a device's noise floor, by kind of kernel.

    half-width of the band = 1.645 · √(π / 2) · mean |error|

The factor is that of a normal distribution: nine of ten of its values lie within 1.645 deviations, and its mean
absolute deviation is √(2 / π) of one.
"""

from __future__ import annotations

import math
from typing import Annotated, Final

from pydantic import Field

from .._schema import Number, Record, Text

_HALF_WIDTH: Final = 1.645 * math.sqrt(math.pi / 2.0)

_Percent = Annotated[Number, Field(gt=0, lt=100)]


class DeviceNoise(Record):
    """Mean |error| of predicting one run of a shape from the other runs of it, in percent."""

    gemm_percent: _Percent
    other_percent: _Percent
    """Of row-wise kernels; it stands for attention and collectives too, which nobody repeated as often."""


class NoiseFloors(Record):
    """By device, as its source names it. Raises `InvalidInputError`."""

    source: Text
    """What the figures were worked out from."""
    devices: Annotated[dict[Text, DeviceNoise], Field(min_length=1)]

    def half_width(self, target: str, family: str) -> float:
        """Of a 90 % band, as a fraction of the time; the largest of all devices for one that is not known."""
        known = [self.devices[target]] if target in self.devices else list(self.devices.values())
        percent = max(one.gemm_percent if family == "gemm" else one.other_percent for one in known)
        return _HALF_WIDTH * percent / 100.0
