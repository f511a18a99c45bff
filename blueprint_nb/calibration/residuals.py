"""What held-out rows say of the next estimate: how far |ln(measured / estimate)| reaches, and how errors go together.

An octave's reach is what nine of ten of its rows lie within, to either side: rows that were held out together (a model,
a fold, a GPU) err alike, and to which side one part errs says nothing of the next. Fewer than 60 rows are joined by
those of neighbours, up to four octaves away.

A band made of some parts is too narrow for another. So each part is tried on the band that the others make, and an
octave's reach grows by what nine of ten rows lie beyond it, its neighbours' too (conformalised quantile regression,
Romano et al. 2019, with groups left out in the place of rows). All parts of a device count the same.

A device with few models, so few widths, is not its own best witness. Where others were held out in the same way, their
residuals together count as much as its own, scaled half of the way (in logarithms) to the mean of its own.

Rows that lie outside what was fitted to without them are narrowed to what they would be within it, by the rule that
bands are widened by. Where all of them lie outside, that says little of the inside; so a band there reaches at least as
far as nine of ten rows that were fitted to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from ..cost.calibration import OctaveResiduals
from ..cost.expected_error import Spread, narrowed
from ..cost.octaves import octave_of
from .errors import Judged, percent
from .sample import balanced_weights

if TYPE_CHECKING:
    import polars as pl

_COVERED: Final = 0.9
_TIE: Final = 1e-9
"""Weights that add up to a share, but for rounding, reach it."""
_ENOUGH_ROWS: Final = 60
_NEAR: Final = 4
"""Octaves to either side that may stand in for one."""


@dataclass(frozen=True, slots=True)
class _Reach:
    """Of |ln(measured / estimate)| of rows whose sizes are about 2^`place`, and by how much it was widened."""

    place: float
    reach: float
    widened: float = 0.0


_Reaches = Mapping[int, _Reach]
"""By octave, ascending."""


@dataclass(frozen=True, slots=True)
class HeldOutResiduals:
    """Residuals by octave, widened, and how often they hold what they did not see."""

    octaves: tuple[OctaveResiduals, ...] = ()
    coverage_percent: float | None = None
    """Of the device's rows of one part, by what the other parts say; None where there is one part."""

    @property
    def fields(self) -> dict[str, Any]:
        """As a `FamilyFit` has them."""
        return {"residuals": self.octaves, "coverage_percent": self.coverage_percent}


def held_out_residuals(
    judged: Judged, in_sample: Judged | None = None, others: Sequence[Judged] = ()
) -> HeldOutResiduals:
    """Of one device's rows held out, ascending by octave.

    `in_sample` gives the errors by octave of what was fitted to; `others` are further devices, whose parts bear the
    same numbers.
    """
    every = _Rows.of((judged, *others))
    residual, octaves, weights = narrowed(judged.residual, judged.doublings), judged.octave, _alike(every.own)
    numbers = np.unique(octaves)
    seen = {} if in_sample is None else _plain(_Rows.of((in_sample,)), numbers)
    found = []
    for octave, one in _widened(every, numbers).items():
        rows = octaves == octave
        least = seen[octave].reach if seen else 0.0
        found.append(
            OctaveResiduals(
                octave=octave,
                rows=int(rows.sum()),
                size=round(2.0**one.place, 1),
                middle=round(_quantile(residual[rows], 0.5, weights[rows]), 5),
                reach=round(max(one.reach, least), 5),
                widened=round(one.widened, 5),
                mape_percent=_octave_mape(judged, octave),
                in_sample_mape_percent=None if in_sample is None else _octave_mape(in_sample, octave),
            )
        )
    return HeldOutResiduals(tuple(found), _coverage_percent(every))


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

    off: Any
    """|ln(measured / estimate)|, as it would be within the range that was fitted to."""
    size: Any
    part: Any
    device: Any
    """0 for the one that bands are of."""

    @classmethod
    def of(cls, devices: Sequence[Judged]) -> Self:
        every = Judged.joined(devices)
        numbers = np.repeat(np.arange(len(devices)), [len(one.size) for one in devices])
        return cls(np.abs(narrowed(every.residual, every.doublings)), every.size, every.part, numbers)

    @property
    def octave(self) -> Any:
        return octave_of(self.size)

    @property
    def own(self) -> Self:
        return self.take(self.device == 0)

    @property
    def drawn_to_own(self) -> Self:
        """With the residuals of other devices scaled half of the way to the mean of the device's own."""
        own, off = self.own.mean_off, self.off.copy()
        for device in np.unique(self.device[self.device > 0]):
            rows = self.device == device
            mean = self.take(rows).mean_off
            if own and mean:
                off[rows] *= np.sqrt(own / mean)
        return replace(self, off=off)

    @property
    def mean_off(self) -> float:
        """Each part of each device counting the same; 0 of no rows."""
        return float(_alike(self) @ self.off) if len(self.off) else 0.0

    def take(self, chosen: Any) -> Self:
        return replace(self, **{one.name: getattr(self, one.name)[chosen] for one in fields(self)})


def _coverage_percent(rows: _Rows) -> float | None:
    """Of the device's rows of each part, by the bands that all other parts would have made."""
    beyond = _of_each_part(rows, lambda out, others: _beyond(out, _widened(others, np.unique(others.octave))))
    own = rows.device == 0
    return None if beyond is None else percent(_alike(rows.take(own))[beyond[own] <= 0.0].sum())


def _of_each_part(rows: _Rows, asked: Callable[[_Rows, _Rows], Any]) -> Any:
    """What is `asked` of each part and all others, put together; None where there is one part."""
    parts = np.unique(rows.part)
    if len(parts) < 2:
        return None
    found = np.empty(rows.off.shape)
    for one in parts:
        is_out = rows.part == one
        found[is_out] = asked(rows.take(is_out), rows.take(~is_out))
    return found


def _beyond(rows: _Rows, reaches: _Reaches) -> Any:
    """How far each row lies outside its band; below 0 within it."""
    spread = Spread(*np.array([(one.place, one.reach) for one in reaches.values()]).T)
    return rows.off - spread.reach_at(rows.size)


def _widened(rows: _Rows, octaves: Any) -> _Reaches:
    """By octave, ascending, widened so that such bands of some parts hold the others."""
    rows = rows.drawn_to_own
    plain = _plain(rows, octaves)
    beyond = _of_each_part(rows, lambda out, others: _beyond(out, _plain(others, np.unique(others.octave))))
    if beyond is None:
        return plain
    found = {}
    for octave, one in plain.items():
        near = _within(rows.octave, octave, _NEAR)
        by = max(_quantile(beyond[near], _COVERED, _own_half(rows.take(near))), 0.0)
        found[octave] = _Reach(one.place, one.reach + by, by)
    return found


def _plain(rows: _Rows, octaves: Any) -> _Reaches:
    found, at = {}, rows.octave
    for one in octaves.tolist():
        around = [_within(at, one, far) for far in range(_NEAR + 1)]
        kept = rows.take(next((near for near in around if near.sum() >= _ENOUGH_ROWS), around[-1]))
        place = float(np.log2(rows.size[at == one]).mean())
        found[one] = _Reach(place, _quantile(kept.off, _COVERED, _own_half(kept)))
    return found


def _quantile(values: Any, at: float, weights: Any) -> float:
    return float(np.quantile(values, at - _TIE, weights=weights, method="inverted_cdf"))


def _within(octave: Any, centre: int, far: int) -> Any:
    return np.abs(octave - centre) <= far


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
