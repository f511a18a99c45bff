"""How far off estimates are: each row counted alone, so that nothing cancels."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..cost.calibration import ErrorFigures, OctaveResiduals
from .sample import Sample

_TIMER_SECONDS: Final = 1e-6
"""An error within the profiler's timer is none where the largest is sought."""

_BAND: Final = (0.05, 0.5, 0.95)


def error_figures(sample: Sample, estimates: Any) -> ErrorFigures:
    """The errors of `estimates` (seconds, float64 of shape (rows,)) on `sample`."""
    relative = np.abs(estimates / sample.seconds - 1.0)
    felt = np.abs(estimates - sample.seconds) > _TIMER_SECONDS
    return ErrorFigures(
        rows=len(sample),
        mape_percent=_percent(relative.mean()),
        balanced_mape_percent=_percent(sample.weights @ relative),
        p90_percent=_percent(np.quantile(relative, 0.9)),
        max_percent=_percent(relative[felt].max(initial=0.0)),
    )


def octave_residuals(sample: Sample, estimates: Any) -> tuple[OctaveResiduals, ...]:
    """Quantiles of ln(measured / estimate) for each octave of size, ascending."""
    residuals = np.log(sample.seconds / estimates)
    found = []
    for octave in np.unique(sample.octave).tolist():
        of_octave = residuals[sample.octave == octave]
        low, middle, high = (float(round(quantile, 6)) for quantile in np.quantile(of_octave, _BAND))
        found.append(OctaveResiduals(octave=octave, rows=len(of_octave), low=low, middle=middle, high=high))
    return tuple(found)


def _percent(fraction: Any) -> float:
    return round(100.0 * float(fraction), 6)
