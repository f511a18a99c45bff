"""The 90 % bands put to the test: how many held-out times each holds, and how wide it is to do so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt

from .theme import COMPUTE, INK, MEMORY, data, finished, layered, title
from .validation_style import family_axis, family_name

if TYPE_CHECKING:
    import polars as pl

_ROW_HEIGHT: Final = 24
_HELD: Final = [0, 112]
"""Percent; the room beyond 100 is for numbers."""

_SHARE: Final = 0.34
"""Of the width, for each of the two panels; the rest is for names."""

_ASKED: Final = (85, 90, 95)
"""Percent: about the 90 of the name, what is still as it should be."""


def band_chart(coverage: pl.DataFrame, *, width: int = 760) -> alt.HConcatChart:
    """`coverage` as `Validation.coverage` has it, of one device and split."""
    order = [family_name(name) for name in coverage["family"].unique(maintain_order=True)]
    rows = [_row(row) for row in coverage.iter_rows(named=True)]
    size = {"width": int(_SHARE * width), "height": _ROW_HEIGHT * len(order)}
    held = layered([*_asked(), *_lollipops(rows, order, "held", "times held (%)", _HELD)], **size)
    wide = layered(
        _lollipops(rows, order, "wide", "width of the band (% of the estimate)", None, has_names=False), **size
    )
    chart: alt.HConcatChart = alt.HConcatChart(hconcat=[held, wide], spacing=28)
    heading = title("90 % bands, on kernels held out", "shaded: 85 to 95 % of the times held")
    return finished(chart.properties(title=heading))


def _row(row: dict[str, Any]) -> dict[str, Any]:
    held, wide = row["covered_percent"], row["width_percent"]
    return {
        "family": family_name(row["family"]),
        "rows": row["rows"],
        "held": held,
        "held_text": f"{held:.0f}",
        "wide": wide,
        "wide_text": f"{wide:.0f}",
        "is_as_asked": _ASKED[0] <= held <= _ASKED[-1],
    }


def _asked() -> list[alt.Chart]:
    low, middle, high = _ASKED
    scale = alt.Scale(domain=_HELD, nice=False)
    area = alt.Chart(data([{"low": low, "high": high}])).mark_rect(opacity=0.12, color=INK, aria=False)
    rule = alt.Chart(data([{"middle": middle}])).mark_rule(opacity=0.6, aria=False)
    return [area.encode(x=alt.X("low:Q", scale=scale), x2="high:Q"), rule.encode(x=alt.X("middle:Q", scale=scale))]


def _lollipops(
    rows: list[dict[str, Any]],
    order: list[str],
    field: str,
    name: str,
    domain: list[int] | None,
    *,
    has_names: bool = True,
) -> list[alt.Chart]:
    scale = alt.Scale(zero=True) if domain is None else alt.Scale(domain=domain, nice=False)
    axis = alt.Axis(title=name, format="d", tickCount=5)
    if domain is not None:
        axis = alt.Axis(title=name, format="d", values=[0, 25, 50, 75, 100])
    base = alt.Chart(data(rows)).encode(
        x=alt.X(f"{field}:Q", scale=scale, axis=axis),
        y=family_axis(order, has_names=has_names),
    )
    colour = COMPUTE if field == "held" else MEMORY
    tooltip = [
        alt.Tooltip("family:N"),
        alt.Tooltip("rows:Q", format=",d"),
        alt.Tooltip("held:Q", title="held (%)", format=".1f"),
        alt.Tooltip("wide:Q", title="width (%)", format=".1f"),
    ]
    return [
        base.mark_bar(size=3, color=colour, opacity=0.8, aria=False),
        base.mark_point(filled=True, size=90, color=colour, opacity=1).encode(tooltip=tooltip),
        base.mark_text(align="left", dx=9, fontSize=11, aria=False).encode(text=f"{field}_text:N"),
    ]
