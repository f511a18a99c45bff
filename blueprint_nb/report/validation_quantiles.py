"""Where measured times lie about an estimate, by octave of tokens: the band that nine of ten held-out times are in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt

from .theme import GHOST_DASH, INK, data, finished, layered, title
from .validation_style import family_name, panel_columns, panel_header, tokens_axis, tokens_title

if TYPE_CHECKING:
    import polars as pl

_COLUMNS: Final = 3
_HEIGHT: Final = 130
_TICKS: Final = [25, 50, 75, 100, 150, 200, 400]
_WIDEST: Final = (20.0, 500.0)
"""Percent of the estimate: what is beyond is drawn there, and the title says so."""
_MARGIN: Final = 1.25
"""Beyond the widest band, so that a flat end of it does not look cut."""


def quantile_bands(octaves: pl.DataFrame, *, width: int = 760) -> alt.FacetChart:
    """`octaves` as `recorded_octaves` has them, of one calibration and system."""
    families = octaves["family"].unique(maintain_order=True).to_list()
    columns, side, gap = panel_columns(len(families), width, _COLUMNS)
    rows = [_row(row) for row in octaves.iter_rows(named=True)]
    low, high = min(row["low"] for row in rows) / _MARGIN, max(row["high"] for row in rows) * _MARGIN
    scale = alt.Scale(type="log", nice=False, domain=[low, high])
    ticks = [tick for tick in _TICKS if low <= tick <= high]
    axis = alt.Axis(title="measured / estimate (%)", values=ticks, format="d")
    base = alt.Chart().encode(x=tokens_axis(octaves["octave"].to_list(), tokens_title(families)))
    layers = [
        base.mark_area(opacity=0.2, color=INK, aria=False).encode(
            y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q"
        ),
        alt.Chart()
        .transform_aggregate(rows="count()")
        .mark_rule(opacity=0.6, strokeDash=GHOST_DASH, aria=False)
        .encode(y=alt.YDatum(100)),
        base.mark_line(color=INK, strokeWidth=1.8, aria=False).encode(y=alt.Y("middle:Q", scale=scale, axis=axis)),
    ]
    chart: alt.FacetChart = (
        layered(layers, width=side - 46, height=_HEIGHT)
        .facet(
            facet=alt.Facet("family:N", sort=[family_name(name) for name in families], header=panel_header()),
            columns=columns,
            spacing=gap,
            data=data(rows),
        )
        .resolve_axis(x="independent", y="independent")
        .resolve_scale(x="independent")
    )
    reading = "shaded: 90 % of those held out · line: their median · dashed: the estimate"
    beyond = f"bands end at {_WIDEST[0]:.0f} and {_WIDEST[1]:.0f} %: what is beyond is drawn there"
    notes = [reading, beyond] if _are_cut(octaves) else [reading]
    return finished(chart.properties(title=title("Where measured times lie about an estimate", *notes)))


def _are_cut(octaves: pl.DataFrame) -> bool:
    return bool((octaves["low_percent"] < _WIDEST[0]).any() or (octaves["high_percent"] > _WIDEST[1]).any())


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "family": family_name(row["family"]),
        "tokens": 2 ** row["octave"],
        **{
            name: min(max(round(row[f"{name}_percent"], 1), _WIDEST[0]), _WIDEST[1])
            for name in ("low", "middle", "high")
        },
    }
