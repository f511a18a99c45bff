"""How far off estimates are: each row counted alone, so that nothing cancels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from ..cost.calibration import ErrorFigures
from ..cost.expected_error import doublings_outside
from ..cost.families import Family
from ..cost.octaves import octave_of
from .sample import Sample, balanced_weights

_TIMER_SECONDS: Final = 1e-6
"""An error within the profiler's timer is none where the largest is sought."""

_AT_ONCE: Final = 4096
"""Rows that a form is asked for at a time: it weighs a hundred alternatives of each."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Measured kernels and what a fit says of them: arrays of shape (rows,)."""

    measured_seconds: Any
    estimated_seconds: Any
    group: Any
    size: Any
    """That grows with the work: ints ≥ 1."""
    part: Any = 0
    """Rows of one number were held out together; or one number for all."""
    doublings: Any = 0.0
    """Between a row and what was fitted to (see `expected_error.doublings_outside`); or one number for all."""

    @classmethod
    def of(
        cls,
        family: Family,
        samples: Sequence[Sample],
        values: Mapping[str, float],
        part: int = 0,
        fitted_to: Mapping[str, tuple[int, int]] | None = None,
    ) -> Self:
        """What `values` say of all samples; `fitted_to` are the ranges of what they come from, None for these."""
        size = np.concatenate([one.shape[family.size] for one in samples])
        return cls(
            measured_seconds=np.concatenate([one.seconds for one in samples]),
            estimated_seconds=np.concatenate([estimates(family, one, values) for one in samples]),
            group=np.concatenate([one.group for one in samples]),
            size=size,
            part=np.full(size.shape, part),
            doublings=np.concatenate([_doublings(one, fitted_to) for one in samples]),
        )

    @classmethod
    def joined(cls, parts: Sequence[Judged]) -> Self:
        """The rows of all parts."""
        names = ("measured_seconds", "estimated_seconds", "group", "size")
        columns = {name: np.concatenate([getattr(one, name) for one in parts]) for name in names}
        spread = {
            name: np.concatenate([np.broadcast_to(getattr(one, name), np.shape(one.size)) for one in parts])
            for name in ("part", "doublings")
        }
        return cls(**columns, **spread)

    @property
    def octave(self) -> Any:
        """int64: `octave_of` the size."""
        return octave_of(self.size)

    @property
    def relative(self) -> Any:
        """|estimate / measured − 1|."""
        return np.abs(self.estimated_seconds - self.measured_seconds) / self.measured_seconds

    @property
    def residual(self) -> Any:
        """ln(measured / estimate)."""
        return np.log(self.measured_seconds / self.estimated_seconds)


def estimates(family: Family, sample: Sample, values: Mapping[str, float]) -> Any:
    """Seconds that `values` say: float64 of shape (rows,)."""
    form = sample.form or family
    cuts = range(0, len(sample), _AT_ONCE)
    parts: Iterable[Sample] = (sample.take(np.arange(at, min(at + _AT_ONCE, len(sample)))) for at in cuts)
    return np.concatenate([form.seconds(form.prepare(part.shape, part.machine), values) for part in parts])


def _doublings(sample: Sample, fitted_to: Mapping[str, tuple[int, int]] | None) -> Any:
    outside: Any = 0.0 if fitted_to is None else doublings_outside(fitted_to, sample.shape)
    return np.broadcast_to(outside, len(sample)).astype(np.float64)


def error_figures(judged: Judged) -> ErrorFigures:
    """The errors of the estimates."""
    difference = np.abs(judged.estimated_seconds - judged.measured_seconds)
    relative = judged.relative
    return ErrorFigures(
        rows=len(relative),
        mape_percent=percent(relative.mean()),
        balanced_mape_percent=percent(balanced_weights(judged.group, judged.octave) @ relative),
        p90_percent=percent(np.quantile(relative, 0.9)),
        max_percent=percent(relative[difference > _TIMER_SECONDS].max(initial=0.0)),
    )


def percent(fraction: Any) -> float:
    """Of a fraction, to five decimals."""
    return round(100.0 * float(fraction), 5)
