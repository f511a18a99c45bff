"""Predicted against measured: a panel for each family, a point for each held-out kernel, both axes logarithmic.

On the diagonal an estimate is right; the band about it is ±20 %. What leaves it upwards is estimated too long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np

from .theme import COMPUTE, INK, data, finished, layered, title
from .validation_style import family_name, panel_columns, panel_header

if TYPE_CHECKING:
    import polars as pl

_COLUMNS: Final = 3
_NEAR: Final = 0.2
_SEED: Final = 1
_STEPS: Final = 24


def scatter(
    rows: pl.DataFrame, *, predictor: str = "calibrated", width: int = 760, most_points: int = 2_400
) -> alt.FacetChart:
    """`rows` as `Validation.rows` has them, of one device and split; at most `most_points` in all are drawn."""
    families = rows["family"].unique(maintain_order=True).to_list()
    columns, side, gap = panel_columns(len(families), width, _COLUMNS)
    drawn = [_thinned(rows.filter(rows["family"] == name), most_points // len(families)) for name in families]
    points = [_point(row, predictor) for frame in drawn for row in frame.iter_rows(named=True)]
    chart: alt.FacetChart = (
        layered([*_guides(), _dots()], width=side - 46, height=side - 60)
        .facet(
            facet=alt.Facet("family:N", sort=[family_name(name) for name in families], header=panel_header()),
            columns=columns,
            spacing=gap,
            data=data([*_diagonals(points), *points]),
        )
        .resolve_scale(x="independent", y="independent")
    )
    heading = f"Estimates of {predictor} against measured times"
    note = "each point a held-out kernel · line: the same · shaded: within ±20 %"
    return finished(chart.properties(title=title(heading, note)))


def _thinned(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    return rows if len(rows) <= most else rows.sample(most, seed=_SEED)


def _point(row: dict[str, Any], predictor: str) -> dict[str, Any]:
    measured, estimated = 1e6 * row["measured_seconds"], 1e6 * row[predictor]
    return {
        "family": family_name(row["family"]),
        "component": row["component"],
        "model": row["model"],
        "size": row["size"],
        "measured": round(measured, 3),
        "estimated": round(estimated, 3),
        "error": round(100.0 * (estimated / measured - 1.0), 1),
    }


def _dots() -> alt.Chart:
    tooltip = [
        alt.Tooltip("component:N"),
        alt.Tooltip("model:N"),
        alt.Tooltip("size:Q", title="tokens", format=",d"),
        alt.Tooltip("measured:Q", title="measured (µs)", format=",.1f"),
        alt.Tooltip("estimated:Q", title="estimate (µs)", format=",.1f"),
        alt.Tooltip("error:Q", title="error (%)", format="+.1f"),
    ]
    dots = (
        alt.Chart()
        .transform_filter("isValid(datum.estimated)")
        .mark_point(filled=True, size=14, opacity=0.8, color=COMPUTE, aria=False)
    )
    chart: alt.Chart = dots.encode(
        x=_axis("measured", "measured (µs)"), y=_axis("estimated", "estimate (µs)", alt.Y), tooltip=tooltip
    )
    return chart


def _axis(field: str, name: str, kind: type[alt.X] | type[alt.Y] = alt.X) -> Any:
    axis = alt.Axis(title=name, tickCount=4, format="~s", labelFlush=False, labelOverlap="greedy", grid=False)
    return kind(f"{field}:Q", scale=alt.Scale(type="log", nice=False, padding=6), axis=axis)


def _diagonals(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """From the shortest to the longest time of each panel, in steps that follow a logarithmic axis."""
    rows = []
    for family in dict.fromkeys(point["family"] for point in points):
        times = [time for one in points if one["family"] == family for time in (one["measured"], one["estimated"])]
        for at in np.geomspace(min(times), max(times), _STEPS).tolist():
            rows.append({"family": family, "measured": at, "low": at * (1 - _NEAR), "high": at * (1 + _NEAR)})
    return rows


def _guides() -> list[alt.Chart]:
    base = alt.Chart().transform_filter("isValid(datum.low)").encode(x=_axis("measured", "measured (µs)"))
    area = base.mark_area(opacity=0.12, color=INK, aria=False).encode(y="low:Q", y2="high:Q")
    line = base.mark_line(opacity=0.6, color=INK, strokeWidth=1, aria=False)
    return [area, line.encode(y=_axis("measured", "estimate (µs)", alt.Y))]
