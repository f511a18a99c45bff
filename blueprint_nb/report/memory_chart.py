"""What a device holds, part by part, over the request, against what it may hold."""

from __future__ import annotations

from typing import Any, Final

import altair as alt
import polars as pl

from ..analysis import Estimate
from ..thinning import kept_indices
from ..units import GIB, format_bytes, format_gib
from .context_axis import context_axis, is_wide
from .memory_rows import MEMORY_PARTS
from .theme import LIMIT_DASH, PART_COLOURS, TROUBLE, Table, data, finished, layered, title

_PREFILL_WIDTH: Final = 64
_PREFILL_GAP: Final = 24
_BAR: Final = 44
_POINTS: Final = 60
"""Parts grow in straight lines, so that few points draw them."""
_EXCESS: Final[dict[str, Any]] = {"color": TROUBLE, "opacity": 0.9}
_EXCESS_TOOLTIP: Final = [
    alt.Tooltip("phase:N", title="phase"),
    alt.Tooltip("context_tokens:Q", title="visible context (tokens)", format=",d"),
    alt.Tooltip("short:N", title="above usable"),
    alt.Tooltip("total:N", title="all parts"),
    alt.Tooltip("parts:N", title="of these"),
]
_PART_ENCODINGS: Final[dict[str, Any]] = {
    "color": alt.Color(
        "part:N",
        scale=alt.Scale(domain=list(MEMORY_PARTS), range=PART_COLOURS),
        legend=alt.Legend(title=None, orient="top", direction="horizontal", symbolType="square"),
    ),
    "order": alt.Order("order:Q"),
    "tooltip": [
        alt.Tooltip("phase:N", title="phase"),
        alt.Tooltip("context_tokens:Q", title="visible context (tokens)", format=",d"),
        alt.Tooltip("part:N", title="part"),
        alt.Tooltip("held:N", title="holds"),
        alt.Tooltip("total:N", title="all parts"),
    ],
}


def memory_chart(estimate: Estimate, *, width: int = 640, height: int = 300) -> alt.HConcatChart:
    """Memory by part on the fullest device: the prefill as a bar, decode steps over their contexts (GiB)."""
    frame = estimate.memory_by_context
    total = pl.sum_horizontal(*MEMORY_PARTS.values())
    frame = frame.with_columns(
        total_bytes=total, top_bytes=pl.max_horizontal(total, pl.lit(estimate.memory.usable_bytes))
    )
    prefill, decode = (frame.filter(pl.col("phase") == phase) for phase in ("prefill", "decode"))
    scale = _scale(frame, estimate)
    beside = width - _PREFILL_WIDTH - _PREFILL_GAP
    panels = [_prefill_panel(estimate, prefill, scale, width if decode.is_empty() else _PREFILL_WIDTH, height)]
    if not decode.is_empty():
        panels.append(_decode_panel(estimate, decode, scale, beside, height))
    chart: alt.HConcatChart = alt.hconcat(
        *panels,
        spacing=_PREFILL_GAP,
        title=title("Memory of the fullest device by part", "GiB · it fits where all parts stay below usable memory"),
    )
    chart = chart.resolve_scale(y="shared", color="shared")
    return finished(chart)


def _scale(frame: pl.DataFrame, estimate: Estimate) -> alt.Scale:
    largest = max(estimate.memory.capacity_bytes, *frame["top_bytes"].to_list())
    return alt.Scale(domain=[0, 1.08 * largest / GIB], nice=False)


def _prefill_panel(
    estimate: Estimate, frame: pl.DataFrame, scale: alt.Scale, width: int, height: int
) -> alt.LayerChart:
    x = alt.X("phase:N", title=None, axis=alt.Axis(labelAngle=0, ticks=False, labelPadding=8))
    y = alt.Y("gib:Q", scale=scale, stack="zero", axis=alt.Axis(title="memory (GiB)", minExtent=36))
    is_alone = width > _PREFILL_WIDTH
    return _panel(estimate, frame, x, y, width, height, is_bar=True, is_labelled=is_alone)


def _decode_panel(estimate: Estimate, frame: pl.DataFrame, scale: alt.Scale, width: int, height: int) -> alt.LayerChart:
    first, last = int(frame["context_tokens"][0]), int(frame["context_tokens"][-1])
    frame = frame[kept_indices(len(frame), _POINTS, logarithmic=is_wide(first, last))]
    x = context_axis(first, last, label="visible context of decode steps (tokens)")
    y = alt.Y("gib:Q", scale=scale, stack="zero", axis=alt.Axis(title=None, labels=False, ticks=False, domain=False))
    return _panel(estimate, frame, x, y, width, height, is_bar=first == last, is_labelled=True)


def _panel(
    estimate: Estimate,
    frame: pl.DataFrame,
    x: alt.X,
    y: alt.Y,
    width: int,
    height: int,
    *,
    is_bar: bool,
    is_labelled: bool,
) -> alt.LayerChart:
    parts = alt.Chart(data(_part_rows(frame))).encode(x=x, y=y, **_PART_ENCODINGS)
    over = bool((frame["total_bytes"] > estimate.memory.usable_bytes).any())
    layers = [parts.mark_bar(size=_BAR) if is_bar else parts.mark_area()]
    if over:
        tops = alt.Chart(data(_top_rows(frame, estimate.memory.usable_bytes)))
        tops = tops.encode(x=x, y="usable_gib:Q", y2="top_gib:Q", tooltip=_EXCESS_TOOLTIP)
        layers.append(tops.mark_bar(size=_BAR, **_EXCESS) if is_bar else tops.mark_area(line=False, **_EXCESS))
    labelled_at = width if is_labelled else None
    return layered([*layers, *_limits(estimate, labelled_at)], width=width, height=height)


def _top_rows(frame: pl.DataFrame, usable_bytes: int) -> Table:
    """What lies above usable memory at each point."""
    return [
        {
            "phase": point["phase"],
            "context_tokens": point["context_tokens"],
            "usable_gib": usable_bytes / GIB,
            "top_gib": point["top_bytes"] / GIB,
            "short": format_gib(point["top_bytes"] - usable_bytes),
            "total": format_gib(point["total_bytes"]),
            "parts": ", ".join(f"{part} {format_gib(point[column])}" for part, column in MEMORY_PARTS.items()),
        }
        for point in frame.iter_rows(named=True)
    ]


def _part_rows(frame: pl.DataFrame) -> Table:
    """A row for each part and point, from the bottom of the stack, with what the tooltip says."""
    return [
        {
            "phase": point["phase"],
            "context_tokens": point["context_tokens"],
            "part": part,
            "order": order,
            "gib": point[column] / GIB,
            "held": format_bytes(point[column]),
            "total": format_gib(point["total_bytes"]),
        }
        for point in frame.iter_rows(named=True)
        for order, (part, column) in enumerate(MEMORY_PARTS.items())
    ]


def _limits(estimate: Estimate, labelled_at: int | None) -> list[alt.Chart]:
    """Lines of usable memory and of capacity, named beside the chart, and what is missing."""
    memory = estimate.memory
    usable, capacity = memory.usable_bytes / GIB, memory.capacity_bytes / GIB
    limits = [{"gib": usable, "label": f"usable {format_gib(memory.usable_bytes)}", "dy": 7}]
    if usable < capacity:
        limits.append({"gib": capacity, "label": f"capacity {format_gib(memory.capacity_bytes)}", "dy": -7})
    else:
        limits[0] |= {"label": f"capacity {format_gib(memory.capacity_bytes)}", "dy": 0}
    layers = [_limit_rule(limit, dash=LIMIT_DASH if limit["gib"] == usable else [1, 0]) for limit in limits]
    if labelled_at is None:
        return layers
    if not memory.fits:
        short = f"✕ {format_gib(memory.total_bytes - memory.usable_bytes)} short"
        limits.append({"gib": memory.total_bytes / GIB, "label": short, "dy": 8})
    return [*layers, *(_limit_label(limit, labelled_at) for limit in limits)]


def _limit_rule(limit: dict[str, Any], dash: list[int]) -> alt.Chart:
    rule: alt.Chart = alt.Chart(data([limit])).mark_rule(strokeWidth=1.5, strokeDash=dash).encode(y="gib:Q")
    return rule


def _limit_label(limit: dict[str, Any], at: int) -> alt.Chart:
    base = alt.Chart(data([limit])).mark_text(align="left", dx=6, dy=limit["dy"])
    text: alt.Chart = base.encode(y="gib:Q", text="label:N", x=alt.value(at))
    return text
