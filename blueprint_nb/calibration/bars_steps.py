"""Efficiency by size as a bar to beat: a step for each octave of work, as a system's efficiency curves have them.

A kernel that is bound by its operations is on the curve of operations, any other on the curve of bytes. A step is the
median efficiency of its octave; an octave nobody measured takes the nearest one's, and a kernel of a kind nobody
measured is on the other curve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..cost.families import Family
from ..cost.octaves import octave_of
from .bars_constant import efficiencies
from .bars_work import Work, work_of
from .predict import Pricing, Training, by_device
from .sample import Sample

_Curve = tuple[Any, Any]
"""Octaves, ascending, and the efficiency of each."""


class StepCurves:
    """roofline / efficiency of the octave of work."""

    name = "step curves"

    def learned(self, family: Family, training: Training) -> Pricing:
        """Two curves for a device, or for all."""

        def learn(samples: Sequence[Sample]) -> Callable[[Sample], Any]:
            works = [work_of(family.name, one.shape, one.machine) for one in samples]
            curves = _curves(works, samples)

            def priced(asked: Sample) -> Any:
                work = work_of(family.name, asked.shape, asked.machine)
                return work.roofline_seconds / _reached(work, curves)

            return priced

        return by_device(training, learn)


def _curves(works: Sequence[Work], samples: Sequence[Sample]) -> dict[bool, _Curve]:
    """Whether operations bind to the curve of such kernels, where there are any."""
    reached = efficiencies(works, samples)
    octaves = np.concatenate([_octaves(work) for work in works])
    is_compute = np.concatenate([work.is_compute_bound for work in works])
    curves = {}
    for kind in np.unique(is_compute).tolist():
        of_kind = is_compute == kind
        steps = np.unique(octaves[of_kind])
        curves[kind] = (steps, np.array([np.median(reached[of_kind & (octaves == step)]) for step in steps]))
    return curves


def _reached(work: Work, curves: dict[bool, _Curve]) -> Any:
    octaves, any_curve = _octaves(work), next(iter(curves.values()))
    found = [_at(octaves, *curves.get(kind, any_curve)) for kind in (True, False)]
    return np.where(work.is_compute_bound, *found)


def _octaves(work: Work) -> Any:
    """Of what binds."""
    return octave_of(np.where(work.is_compute_bound, work.operations, work.bytes))


def _at(octaves: Any, steps: Any, values: Any) -> Any:
    return values[np.abs(octaves[:, None] - steps).argmin(axis=1)]
