"""TP × PP, a cell for each legal mapping: what it takes or gives, and which do not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import altair as alt

from ..analysis.rates import rate_text
from ..errors import unknown_name
from ..units import format_count, format_gib, format_seconds
from .theme import INK, TROUBLE, Table, data, finished, layered, message_chart, title

if TYPE_CHECKING:
    import polars as pl

_CELL_WIDTH: Final = 92
_CELL_HEIGHT: Final = 34
_PALE: Final = "#E3EEF6"
_DEEP: Final = "#0072B2"
DOES_NOT_FIT: Final = "✕ does not fit"


@dataclass(frozen=True, slots=True)
class Metric:
    """A column of `analysis.mapping_table` and how it reads."""

    title: str
    better: str
    text: Callable[[float], str]


METRICS: Final = {
    "decode_step_seconds": Metric("Last decode step", "lower is better", format_seconds),
    "prefill_seconds": Metric("Prefill", "lower is better", format_seconds),
    "tokens_per_second": Metric("Tokens/s of one replica", "higher is better", rate_text),
    "tokens_per_second_per_device": Metric("Tokens/s a device", "higher is better", rate_text),
    "tokens_per_second_per_sequence": Metric("Tokens/s a sequence", "higher is better", rate_text),
    "total_bytes": Metric("Memory of the fullest device", "lower is better", format_gib),
}


def mapping_chart(
    table: pl.DataFrame,
    metric: str = "decode_step_seconds",
    *,
    chosen: tuple[int, int] | None = None,
) -> alt.Chart | alt.LayerChart:
    """Heat map of `analysis.mapping_table` by `metric`, one of `METRICS`; (TP, PP) `chosen` is framed.

    Raises `UnknownNameError` for another metric.
    """
    if metric not in METRICS:
        raise unknown_name("metric", metric, METRICS)
    shown = METRICS[metric]
    rows = _rows(table, metric, shown, chosen)
    if not rows:
        return message_chart("No legal mapping has this figure.", 6 * _CELL_WIDTH, 3 * _CELL_HEIGHT)
    base = alt.Chart(data(rows)).encode(
        x=alt.X("tensor_parallel:O", title="TP (ranks)", axis=_axis()),
        y=alt.Y("pipeline_parallel:O", title="PP (stages)", axis=_axis(minExtent=24)),
    )
    layers = [*_cells(base), *_words(base), *_frame(base, rows)]
    chart = layered(
        layers,
        width=alt.Step(_CELL_WIDTH),
        height=alt.Step(_CELL_HEIGHT),
        title=title(f"{shown.title} by TP and PP", f"{shown.better} · a dashed cell does not fit"),
    )
    return finished(chart)


def _axis(**others: Any) -> alt.Axis:
    return alt.Axis(**others, labelAngle=0, ticks=False, domain=False, grid=False)


def _rows(table: pl.DataFrame, metric: str, shown: Metric, chosen: tuple[int, int] | None) -> Table:
    known = [row for row in table.iter_rows(named=True) if row[metric] is not None]
    fitting = [row[metric] for row in known if row["fits"]]
    low, high = (min(fitting), max(fitting)) if fitting else (0, 0)
    rows = []
    for row in known:
        depth = (row[metric] - low) / (high - low) if high > low and row["fits"] else 0.0
        mapping = (row["tensor_parallel"], row["pipeline_parallel"])
        rows.append(
            {
                "tensor_parallel": mapping[0],
                "pipeline_parallel": mapping[1],
                "fits": row["fits"],
                "depth": depth,
                "chosen": mapping == chosen,
                "text": shown.text(row[metric]) if row["fits"] else DOES_NOT_FIT,
                **_tooltip_values(row),
            }
        )
    return rows


def _tooltip_values(row: dict[str, Any]) -> dict[str, str]:
    step = row["decode_step_seconds"]
    return {
        "devices": format_count(row["devices"]),
        "memory": f"{format_gib(row['total_bytes'])}, {'fits' if row['fits'] else 'does not fit'}",
        "prefill": format_seconds(row["prefill_seconds"]),
        "decode": "none" if step is None else format_seconds(step),
        "rate": rate_text(row["tokens_per_second"], "tokens/s"),
        "device_rate": rate_text(row["tokens_per_second_per_device"], "tokens/s"),
    }


def _cells(base: alt.Chart) -> list[alt.Chart]:
    tooltip = [
        alt.Tooltip("tensor_parallel:O", title="TP"),
        alt.Tooltip("pipeline_parallel:O", title="PP"),
        alt.Tooltip("devices:N", title="devices"),
        alt.Tooltip("memory:N", title="fullest device"),
        alt.Tooltip("prefill:N", title="prefill"),
        alt.Tooltip("decode:N", title="last decode step"),
        alt.Tooltip("rate:N", title="one replica"),
        alt.Tooltip("device_rate:N", title="a device"),
    ]
    colour = alt.Color("depth:Q", scale=alt.Scale(domain=[0, 1], range=[_PALE, _DEEP], interpolate="lab"), legend=None)
    fitting = base.transform_filter("datum.fits").mark_rect(
        cornerRadius=3, xOffset=1, yOffset=1, x2Offset=-1, y2Offset=-1
    )
    others = base.transform_filter("!datum.fits").mark_rect(
        cornerRadius=3,
        color=TROUBLE,
        fillOpacity=0.06,
        stroke=TROUBLE,
        strokeDash=[4, 3],
        xOffset=2,
        yOffset=2,
        x2Offset=-2,
        y2Offset=-2,
    )
    return [fitting.encode(color=colour, tooltip=tooltip), others.encode(tooltip=tooltip)]


def _words(base: alt.Chart) -> list[alt.Chart]:
    """The figure on its cell: dark on pale, white on deep, the page's colour where there is no fill."""
    pale = base.transform_filter("datum.fits && datum.depth < 0.6").mark_text(color="#1A1A1A")
    deep = base.transform_filter("datum.fits && datum.depth >= 0.6").mark_text(color="#FFFFFF")
    others = base.transform_filter("!datum.fits").mark_text(fontSize=11)
    return [layer.encode(text="text:N") for layer in (pale, deep, others)]


def _frame(base: alt.Chart, rows: Table) -> list[alt.Chart]:
    if not any(row["chosen"] for row in rows):
        return []
    frame = base.transform_filter("datum.chosen").mark_rect(filled=False, stroke=INK, strokeWidth=2, cornerRadius=3)
    return [frame]
