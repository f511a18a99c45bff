"""How far off estimates are: each row counted alone, so that nothing cancels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from ..cost.calibration import ErrorFigures, OctaveResiduals
from ..cost.families import Family
from .sample import Sample, balanced_weights

_TIMER_SECONDS: Final = 1e-6
"""An error within the profiler's timer is none where the largest is sought."""

_BAND: Final = (0.05, 0.5, 0.95)


@dataclass(frozen=True, eq=False)
class Judged:
    """Measured kernels and what a fit says of them: arrays of shape (rows,)."""

    measured_seconds: Any
    estimated_seconds: Any
    group: Any
    octave: Any

    @classmethod
    def of(cls, family: Family, samples: Sequence[Sample], values: Mapping[str, float]) -> Self:
        """What `values` say of all samples."""
        estimates = [family.seconds(family.prepare(one.shape, one.machine), values) for one in samples]
        return cls(
            measured_seconds=np.concatenate([one.seconds for one in samples]),
            estimated_seconds=np.concatenate(estimates),
            group=np.concatenate([one.group for one in samples]),
            octave=np.concatenate([one.octave for one in samples]),
        )

    @classmethod
    def joined(cls, parts: Sequence[Judged]) -> Self:
        """The rows of all parts."""
        names = ("measured_seconds", "estimated_seconds", "group", "octave")
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def error_figures(judged: Judged) -> ErrorFigures:
    """The errors of the estimates."""
    difference = np.abs(judged.estimated_seconds - judged.measured_seconds)
    relative = difference / judged.measured_seconds
    return ErrorFigures(
        rows=len(relative),
        mape_percent=_percent(relative.mean()),
        balanced_mape_percent=_percent(balanced_weights(judged.group, judged.octave) @ relative),
        p90_percent=_percent(np.quantile(relative, 0.9)),
        max_percent=_percent(relative[difference > _TIMER_SECONDS].max(initial=0.0)),
    )


def octave_residuals(judged: Judged) -> tuple[OctaveResiduals, ...]:
    """Quantiles of ln(measured / estimate) for each octave of size, ascending."""
    residuals = np.log(judged.measured_seconds / judged.estimated_seconds)
    found = []
    for octave in np.unique(judged.octave).tolist():
        of_octave = residuals[judged.octave == octave]
        low, middle, high = (round(float(quantile), 6) for quantile in np.quantile(of_octave, _BAND))
        found.append(OctaveResiduals(octave=octave, rows=len(of_octave), low=low, middle=middle, high=high))
    return tuple(found)


def _percent(fraction: Any) -> float:
    return round(100.0 * float(fraction), 6)
