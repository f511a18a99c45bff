"""What held-out rows say of the next estimate: quantiles of ln(measured / estimate), and how errors go together.

A band is [min(low, 0), max(high, 0)] of an octave's 5 % and 95 % quantiles. Rows that were held out together (a model,
a fold, a GPU) err alike, so that a band of some parts covers less of another than its name says. It is therefore tried
on each part with the residuals of the others alone; each octave is then widened by what, with its neighbours up to two
octaves away, makes such bands hold 90 % of the rows, each part of every device counting the same (conformalised
quantile regression, Romano et al. 2019, with groups left out in the place of rows). Fewer than 60 rows of an octave are
joined by those of its neighbours.

A device with few models, so few widths, is not its own best witness. Where others were held out in the same way, their
residuals together count as much in the quantiles as its own.

Rows that lie outside what was fitted to without them err more. Those further out than all do on the mean are brought to
that distance, by the rule that bands are widened by; nearer ones stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from ..cost.calibration import OctaveResiduals
from ..cost.expected_error import widening
from .errors import Judged, percent
from .sample import balanced_weights

if TYPE_CHECKING:
    import polars as pl

_QUANTILES: Final = (0.05, 0.5, 0.95)
_COVERED: Final = 0.9
_ENOUGH_ROWS: Final = 60
_REACH: Final = 2
"""Octaves to either side that may stand in for one."""


@dataclass(frozen=True, slots=True)
class _Band:
    """Quantiles of ln(measured / estimate), and by how much the outer two were widened."""

    low: float
    middle: float
    high: float
    widened: float = 0.0


_Octaves = Mapping[int, _Band]


@dataclass(frozen=True, slots=True)
class HeldOutResiduals:
    """Residuals by octave, widened, and how often they hold what they did not see."""

    octaves: tuple[OctaveResiduals, ...] = ()
    tried_doublings: float = 0.0
    """Between the rows and what was fitted to without them, on the mean."""
    coverage_percent: float | None = None
    """Of the device's rows of one part, by what the other parts say; None where there is one part."""

    @property
    def fields(self) -> dict[str, Any]:
        """As a `FamilyFit` has them."""
        return {
            "residuals": self.octaves,
            "tried_doublings": self.tried_doublings,
            "coverage_percent": self.coverage_percent,
        }


def held_out_residuals(
    judged: Judged, in_sample: Judged | None = None, others: Sequence[Judged] = ()
) -> HeldOutResiduals:
    """Of one device's rows held out, ascending by octave.

    `in_sample` gives the errors by octave of what was fitted to; `others` are further devices, whose parts bear the
    same numbers.
    """
    every = _Rows.of((judged, *others))
    tried = _mean_doublings(every)
    found = []
    for octave, band in _widened(every.at(tried), np.unique(judged.octave)).items():
        rows = judged.octave == octave
        found.append(
            OctaveResiduals(
                octave=octave,
                rows=int(rows.sum()),
                low=round(band.low, 5),
                middle=round(band.middle, 5),
                high=round(band.high, 5),
                widened=round(band.widened, 5),
                mape_percent=percent(judged.relative[rows].mean()),
                in_sample_mape_percent=None if in_sample is None else _octave_mape(in_sample, octave),
            )
        )
    return HeldOutResiduals(tuple(found), round(tried, 5), _coverage_percent(every))


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


@dataclass(frozen=True, eq=False)
class _Rows:
    """Arrays of shape (rows,)."""

    residual: Any
    octave: Any
    part: Any
    device: Any
    """0 for the one that bands are of."""
    doublings: Any

    @classmethod
    def of(cls, devices: Sequence[Judged]) -> Self:
        def joined(column: Callable[[int, Judged], Any]) -> Any:
            parts = (np.broadcast_to(column(*one), one[1].residual.shape) for one in enumerate(devices))
            return np.concatenate(list(parts))

        return cls(
            residual=joined(lambda _, judged: judged.residual),
            octave=joined(lambda _, judged: judged.octave),
            part=joined(lambda _, judged: judged.part),
            device=joined(lambda number, _: number),
            doublings=joined(lambda _, judged: judged.doublings),
        )

    def take(self, chosen: Any) -> Self:
        return replace(self, **{one.name: getattr(self, one.name)[chosen] for one in fields(self)})

    def at(self, doublings: float) -> Self:
        """With residuals as they would be no further outside than that."""
        narrowed = np.log1p(np.expm1(np.abs(self.residual)) / widening(self.doublings, doublings))
        return replace(self, residual=np.copysign(narrowed, self.residual))


def _mean_doublings(rows: _Rows) -> float:
    return float(_own_half(rows) @ rows.doublings)


def _coverage_percent(rows: _Rows) -> float | None:
    """Of the device's rows of each part, by the bands that all other parts would have made."""

    def outside(out: _Rows, others: _Rows) -> Any:
        tried = _mean_doublings(others)
        return _beyond(out.at(tried), _widened(others.at(tried), np.unique(others.octave)))

    beyond, own = _of_each_part(rows, outside), rows.device == 0
    return None if beyond is None else percent(_alike(rows.take(own))[beyond[own] <= 0.0].sum())


def _beyond_others(rows: _Rows) -> Any:
    """How far each row lies outside the plain band of the other parts; None where there is one part."""
    return _of_each_part(rows, lambda out, others: _beyond(out, _bands(others, np.unique(others.octave))))


def _of_each_part(rows: _Rows, asked: Callable[[_Rows, _Rows], Any]) -> Any:
    """What is `asked` of each part and all others, put together; None where there is one part."""
    parts = np.unique(rows.part)
    if len(parts) < 2:
        return None
    found = np.empty(rows.residual.shape)
    for one in parts:
        is_out = rows.part == one
        found[is_out] = asked(rows.take(is_out), rows.take(~is_out))
    return found


def _beyond(rows: _Rows, bands: _Octaves) -> Any:
    """How far each row lies outside the band of the nearest octave that has one; below 0 within it."""
    known = np.array(sorted(bands))
    nearest = np.abs(rows.octave[:, None] - known).argmin(axis=-1)
    low = np.array([min(bands[one].low, 0.0) for one in known.tolist()])
    high = np.array([max(bands[one].high, 0.0) for one in known.tolist()])
    return np.maximum(low[nearest] - rows.residual, rows.residual - high[nearest])


def _widened(rows: _Rows, octaves: Any) -> _Octaves:
    """By octave, widened so that such bands of some parts hold the others."""
    bands, beyond = _bands(rows, octaves), _beyond_others(rows)
    if beyond is None:
        return bands
    found = {}
    for octave, band in bands.items():
        near = _within(rows.octave, octave, _REACH)
        by = max(_quantile(beyond[near], _COVERED, _alike(rows.take(near))), 0.0)
        found[octave] = _Band(min(band.low, 0.0) - by, band.middle, max(band.high, 0.0) + by, by) if by else band
    return found


def _bands(rows: _Rows, octaves: Any) -> _Octaves:
    found = {}
    for one in octaves.tolist():
        near = next(near for reach in range(_REACH + 1) if _is_enough(near := _within(rows.octave, one, reach), reach))
        kept = rows.take(near)
        found[one] = _Band(*(_quantile(kept.residual, at, _own_half(kept)) for at in _QUANTILES))
    return found


def _quantile(values: Any, at: float, weights: Any) -> float:
    return float(np.quantile(values, at, weights=weights, method="inverted_cdf"))


def _within(octave: Any, centre: int, reach: int) -> Any:
    return np.abs(octave - centre) <= reach


def _is_enough(rows: Any, reach: int) -> bool:
    return bool(rows.sum() >= _ENOUGH_ROWS or reach >= _REACH)


def _alike(rows: _Rows) -> Any:
    """Weights that give each part of each device the same sum, 1 in all."""
    return balanced_weights(rows.device, rows.part)


def _own_half(rows: _Rows) -> Any:
    """The same, with half of all for the device itself where there are others too."""
    weights, is_own = _alike(rows), rows.device == 0
    if is_own.all() or not is_own.any():
        return weights
    share = float(weights[is_own].sum())
    return weights * np.where(is_own, 0.5 / share, 0.5 / (1.0 - share))


def _octave_mape(judged: Judged, octave: int) -> float | None:
    rows = judged.octave == octave
    return percent(judged.relative[rows].mean()) if rows.any() else None
