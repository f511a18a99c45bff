"""What held-out rows say of the next estimate: quantiles of ln(measured / estimate), and how errors go together.

A band is [min(low, 0), max(high, 0)] of an octave's 5 % and 95 % quantiles. Rows that were held out together (a model,
a fold, a GPU) err alike, so that a band of some parts covers less of another than its name says. It is therefore tried
on each part with the residuals of the others alone; each octave is then widened by what, with its neighbours up to two
octaves away, makes such bands hold 90 % of the rows, each part of the same say (conformalised quantile regression,
Romano et al. 2019, with groups left out in the place of rows). Fewer than 60 rows of an octave are joined by those of
its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..cost.calibration import OctaveResiduals
from .errors import Judged, percent

if TYPE_CHECKING:
    import polars as pl

_QUANTILES: Final = (0.05, 0.5, 0.95)
_COVERED: Final = 0.9
_ENOUGH_ROWS: Final = 60
_REACH: Final = 2
"""Octaves to either side that may stand in for one."""

_Octaves = Mapping[int, tuple[float, float, float]]
"""Octave to low, middle and high."""


@dataclass(frozen=True, slots=True)
class HeldOutResiduals:
    """Residuals by octave, widened, and how often they held what they did not see before they were."""

    octaves: tuple[OctaveResiduals, ...]
    coverage_percent: float | None
    """Of the rows of one part, by the others' residuals before they are widened; None where there is one part."""


def held_out_residuals(judged: Judged, in_sample: Judged | None = None) -> HeldOutResiduals:
    """Of rows held out, ascending; `in_sample` gives the errors by octave of what was fitted to."""
    residual, relative = judged.residual, judged.relative
    part = np.broadcast_to(judged.part, residual.shape)
    beyond = _beyond_others(residual, judged.octave, part)
    found = []
    for octave, (low, middle, high) in _bands(residual, judged.octave, part).items():
        widened = 0.0 if beyond is None else _widening(beyond, judged.octave, part, octave)
        rows = judged.octave == octave
        found.append(
            OctaveResiduals(
                octave=octave,
                rows=int(rows.sum()),
                low=round(min(low, 0.0) - widened if widened else low, 5),
                middle=round(middle, 5),
                high=round(max(high, 0.0) + widened if widened else high, 5),
                widened=round(widened, 5),
                mape_percent=percent(relative[rows].mean()),
                in_sample_mape_percent=None if in_sample is None else _octave_mape(in_sample, octave),
            )
        )
    covered = None if beyond is None else percent(_by_part(part)[beyond <= 0.0].sum())
    return HeldOutResiduals(tuple(found), covered)


def correlation(frame: pl.DataFrame) -> float:
    """Of the errors of different components in one step: 0 to 1; 1 where no step has two.

    `frame` has the columns `step` (of one number where model, TP and size agree), `component`, `octave` and `residual`.
    Residuals are divided by their root mean square over the octave, about 0 as a band is; then, over all steps,
    ρ = Σ [(Σ z)² − Σ z²] / Σ (components − 1) · Σ z².
    """
    import polars as pl

    one_each = frame.group_by("step", "component").agg(pl.col("octave").first(), pl.col("residual").mean())
    scale = pl.col("residual").pow(2).mean().sqrt().over("octave")
    steps = (
        one_each.sort("step", "component")
        .with_columns((pl.col("residual") / scale).fill_nan(0.0).alias("z"))
        .group_by("step", maintain_order=True)
        .agg(pl.col("z").sum().alias("sum"), pl.col("z").pow(2).sum().alias("squares"), pl.len().alias("components"))
    )
    together = float((steps["squares"] * (steps["components"] - 1)).sum())
    if together == 0.0:
        return 1.0
    return round(min(max(float((steps["sum"] ** 2 - steps["squares"]).sum()) / together, 0.0), 1.0), 4)


def _beyond_others(residual: Any, octave: Any, part: Any) -> Any:
    """How far each row lies outside the band of the other parts, below 0 within it; None where there is one part."""
    parts = np.unique(part)
    if len(parts) < 2:
        return None
    beyond = np.empty(residual.shape)
    for one in parts:
        own, others = part == one, part != one
        low, high = _nearest(_bands(residual[others], octave[others], part[others]), octave[own])
        beyond[own] = np.maximum(low - residual[own], residual[own] - high)
    return beyond


def _widening(beyond: Any, octave: Any, part: Any, centre: int) -> float:
    rows = np.abs(octave - centre) <= _REACH
    return max(float(np.quantile(beyond[rows], _COVERED, weights=_by_part(part[rows]), method="inverted_cdf")), 0.0)


def _bands(residual: Any, octave: Any, part: Any) -> _Octaves:
    present = np.unique(octave).tolist()
    found = {}
    for one in present:
        rows = next(rows for reach in range(len(present) + 1) if _is_enough(rows := _within(octave, one, reach), reach))
        weights = _by_part(part[rows])
        quantiles = np.quantile(residual[rows], _QUANTILES, weights=weights, method="inverted_cdf")
        low, middle, high = (float(quantile) for quantile in quantiles)
        found[one] = (low, middle, high)
    return found


def _within(octave: Any, centre: int, reach: int) -> Any:
    return np.abs(octave - centre) <= reach


def _is_enough(rows: Any, reach: int) -> bool:
    return bool(rows.sum() >= _ENOUGH_ROWS or rows.all() or reach >= _REACH)


def _nearest(bands: _Octaves, octave: Any) -> tuple[Any, Any]:
    """(low ≤ 0, high ≥ 0) of each row, from the nearest octave that there is."""
    known = np.array(sorted(bands))
    nearest = np.abs(octave[:, None] - known).argmin(axis=-1)
    low = np.array([min(bands[one][0], 0.0) for one in known.tolist()])
    high = np.array([max(bands[one][2], 0.0) for one in known.tolist()])
    return low[nearest], high[nearest]


def _by_part(part: Any) -> Any:
    """Weights that give each part the same sum, 1 in all."""
    _, index, count = np.unique(part, return_inverse=True, return_counts=True)
    return 1.0 / (count[index.reshape(-1)] * len(count))


def _octave_mape(judged: Judged, octave: int) -> float | None:
    rows = judged.octave == octave
    return percent(judged.relative[rows].mean()) if rows.any() else None
