"""What parameter files record of their errors: a line for each family, in sample and held out, system by system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt

from ..calibration.validate_recorded import IN_SAMPLE
from ..calibration.vidur_sets import HELD_OUT_MODEL
from .theme import COMPUTE, INK, data, finished, layered, title
from .validation_style import family_axis, family_name

if TYPE_CHECKING:
    import polars as pl

_ROW_HEIGHT: Final = 22
_ROOM: Final = 240
"""Pixels for names, on the left, and for a number on the right."""

_HELD_OUT: Final = "held out"
_KINDS: Final = {IN_SAMPLE: "transparent", _HELD_OUT: COMPUTE}


def recorded_chart(errors: pl.DataFrame, *, width: int = 760) -> alt.VConcatChart:
    """`errors` as `recorded_errors` has them, of one calibration: MAPE in sample, and with a model held out.

    A family that was timed for no model or one takes the first split that it has.
    """
    largest = max((row["mape"] for row in _rows(errors)), default=1.0)
    systems = errors["system"].unique(maintain_order=True).to_list()
    parts = [_of_system(errors.filter(errors["system"] == name), name, largest, width) for name in systems]
    heading = title("Errors that the parameter files record", "mean of |estimate / measured − 1| over single kernels")
    return finished(alt.VConcatChart(vconcat=parts, spacing=18, title=heading))


def _of_system(errors: pl.DataFrame, system: str, largest: float, width: int) -> alt.LayerChart:
    rows = _rows(errors)
    order = list(dict.fromkeys(row["family"] for row in rows))
    scale = alt.Scale(domain=[0, largest], nice=True)
    legend = alt.Legend(title=None, orient="top", symbolStrokeColor=COMPUTE, symbolStrokeWidth=1.5, columnPadding=18)
    fill = alt.Fill("kind:N", scale=alt.Scale(domain=list(_KINDS), range=list(_KINDS.values())), legend=legend)
    base = alt.Chart(data(rows)).encode(
        x=alt.X("mape:Q", scale=scale, axis=alt.Axis(title="MAPE (%)", tickCount=8, format="d")),
        y=family_axis(order),
    )
    link = base.mark_line(color=INK, opacity=0.45, strokeWidth=1.5, aria=False).encode(detail="family:N")
    tooltip = [
        alt.Tooltip("family:N"),
        alt.Tooltip("split:N"),
        alt.Tooltip("rows:Q", format=",d"),
        alt.Tooltip("mape:Q", title="MAPE (%)", format=".1f"),
    ]
    dots = base.mark_point(size=70, stroke=COMPUTE, strokeWidth=1.5, opacity=1).encode(fill=fill, tooltip=tooltip)
    numbers = base.transform_filter(f"datum.kind == '{_HELD_OUT}'").mark_text(
        align="left", dx=10, fontSize=11, aria=False
    )
    layers = [link, dots, numbers.encode(text=alt.Text("mape:Q", format=".1f"))]
    return layered(
        layers, width=width - _ROOM, height=_ROW_HEIGHT * len(order), title=alt.TitleParams(system, fontSize=12)
    )


def _rows(errors: pl.DataFrame) -> list[dict[str, Any]]:
    """Of each family in sample and held out."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in errors.iter_rows(named=True):
        kind = IN_SAMPLE if row["split"] == IN_SAMPLE else _HELD_OUT
        key = (row["system"], row["family"], kind)
        if key not in rows or row["split"] == HELD_OUT_MODEL:
            rows[key] = {
                "family": family_name(row["family"]),
                "kind": kind,
                "split": row["split"],
                "rows": row["rows"],
                "mape": row["mape_percent"],
            }
    return list(rows.values())
