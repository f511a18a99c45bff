"""The bars to beat, from the plainest to the hardest: what a calibrated form has to be better than to be worth it."""

from __future__ import annotations

from typing import Final

from .bars_constant import ConstantEfficiency
from .bars_ensemble import Ensemble
from .bars_roofline import PeakRoofline
from .bars_steps import StepCurves
from .predict import Predictor

PLAIN_BARS: Final[tuple[Predictor, ...]] = (PeakRoofline(), ConstantEfficiency(), StepCurves())
"""Those that need nothing but NumPy."""

BARS: Final[tuple[Predictor, ...]] = (*PLAIN_BARS, Ensemble())
