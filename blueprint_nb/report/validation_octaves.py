"""Errors by octave of tokens: a panel for each family, a line for each predictor, the bars to beat beside the forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import altair as alt

from .theme import data, finished, layered, title
from .validation_style import (
    family_name,
    panel_columns,
    panel_header,
    percent_axis,
    predictor_colour,
    predictor_dash,
    predictor_shape,
    tokens_axis,
    tokens_title,
)

if TYPE_CHECKING:
    import polars as pl

_COLUMNS: Final = 3
_HEIGHT: Final = 150
_LEAST: Final = 1.0
"""Percent at the foot of the axis: what is less is drawn there."""

_NOTE: Final = (
    "mean of |estimate / measured − 1|, each row counted alone · logarithmic, what is less than 1 % at its foot"
)


def octave_lines(octaves: pl.DataFrame, predictors: Sequence[str], *, width: int = 760) -> alt.FacetChart:
    """`octaves` as `Validation.octaves` has them, of one device and split."""
    families = octaves["family"].unique(maintain_order=True).to_list()
    columns, side, gap = panel_columns(len(families), width, _COLUMNS)
    rows = [_row(row) for row in octaves.iter_rows(named=True)]
    base = alt.Chart().encode(
        x=tokens_axis(octaves["octave"].to_list(), tokens_title(families)),
        y=percent_axis("mape", "MAPE (%)"),
        color=predictor_colour(predictors),
        order="octave:Q",
    )
    lines = base.mark_line(strokeWidth=1.8, aria=False).encode(strokeDash=predictor_dash(predictors))
    dots = base.mark_point(filled=True, size=32, opacity=1, aria=False).encode(shape=predictor_shape(predictors))
    tooltip = [
        alt.Tooltip("family:N"),
        alt.Tooltip("predictor:N"),
        alt.Tooltip("span:N", title="tokens"),
        alt.Tooltip("rows:Q", format=",d"),
        alt.Tooltip("error:Q", title="MAPE (%)", format=".1f"),
    ]
    answering = base.mark_point(filled=True, size=150, opacity=0, aria=False).encode(tooltip=tooltip)
    chart: alt.FacetChart = (
        layered([lines, dots, answering], width=side - 40, height=_HEIGHT)
        .facet(
            facet=alt.Facet("family:N", sort=[family_name(name) for name in families], header=panel_header()),
            columns=columns,
            spacing=gap,
            data=data(rows),
        )
        .resolve_axis(x="independent", y="independent")
    )
    return finished(chart.properties(title=title("Error by size, on kernels held out", _NOTE)))


def _row(row: dict[str, Any]) -> dict[str, Any]:
    first = 2 ** row["octave"]
    return {
        "family": family_name(row["family"]),
        "predictor": row["predictor"],
        "octave": row["octave"],
        "tokens": first,
        "span": f"{first:,}–{2 * first - 1:,}",
        "rows": row["rows"],
        "error": round(row["mape_percent"], 2),
        "mape": max(round(row["mape_percent"], 2), _LEAST),
    }
