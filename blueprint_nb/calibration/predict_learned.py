"""The calibrated forms with a learned residual layer upon them, which learns from the rows that they were fitted to.

Kernels of other families, and of a device that was not measured, are priced as without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..cost.families import Family
from ..cost.octaves import octave_of
from ..cost.residual_layer import BANDWIDTHS, ResidualLayer
from .predict import Predictor, Pricing, Training
from .sample import Sample

LEARNED: Final = "learned residual"


@dataclass(frozen=True, slots=True)
class LearnedResidual:
    """A layer for each device upon another predictor, whose learning it shares."""

    base: Predictor
    name: str = LEARNED

    def learned(self, family: Family, training: Training) -> Pricing:
        """Raises as the other predictor."""
        pricing = self.base.learned(family, training)
        layers: dict[str, ResidualLayer] = {}

        def priced(target: str, sample: Sample) -> Any:
            seconds = pricing(target, sample)
            if family.name not in BANDWIDTHS or target not in training:
                return seconds
            if target not in layers:
                layers[target] = _layer(family, target, training[target], pricing)
            return layers[target].corrected(sample.shape, seconds).seconds

        return priced


def _layer(family: Family, target: str, samples: Sequence[Sample], pricing: Pricing) -> ResidualLayer:
    """Of the samples of one device, which are of elements of one length."""
    machine = samples[0].machine
    shape = {name: np.concatenate([one.shape[name] for one in samples]) for name in family.dimensions}

    def seconds_of(asked: Mapping[str, Any]) -> Any:
        size = asked[family.size]
        nothing = np.zeros(len(size), dtype=np.int64)
        return pricing(target, Sample(machine, asked, nothing.astype(np.float64), nothing, octave_of(size)))

    return ResidualLayer(family.name, shape, np.concatenate([one.seconds for one in samples]), seconds_of)
