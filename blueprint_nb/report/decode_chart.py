"""Decode latency by visible context: the line; the band that nine of ten such steps lie in, where it is known; and the
steps at which time falls, with the reason.
"""

from __future__ import annotations

from typing import Any, Final

import altair as alt
import numpy as np

from ..analysis import Estimate
from ..analysis.bands import BAND_NAME, band_at, band_text
from ..analysis.falls import falls_of
from ..analysis.rates import rate_text, ratio
from ..cost import Band
from ..thinning import kept_indices
from ..units import format_count, format_seconds, time_unit
from .component_names import component_name
from .context_axis import context_axis, is_early, is_wide
from .step_rows import NO_DECODE
from .theme import GHOST, GHOST_DASH, INK, NO_TIME, TROUBLE, Table, data, finished, layered, message_chart, title
from .title_lines import title_lines

_POINTS: Final = 500
"""Points of a line: about one a pixel, and far below the 5,000 rows of Altair's limit."""
_FEW: Final = 40
_MOST_LABELLED: Final = 3
_BAND_OPACITY: Final = 0.15
_BAND_BAR: Final = 14
_LABEL_APART: Final = 20
"""Pixels from the middle of one line's label to that of another; half of it keeps a label off the other line."""
_LABEL_ROOM: Final = 85
"""Pixels right of the plot, which the labels of lines need, that a title may have too."""

Domain = tuple[float, float]


def decode_latency_chart(
    estimate: Estimate,
    *,
    pinned: Estimate | None = None,
    width: int = 640,
    height: int = 300,
    y_domain: Domain | None = None,
    hover: bool = True,
    zoom: bool = False,
) -> alt.Chart | alt.LayerChart:
    """Seconds of each decode step with their band; `pinned` is another estimate, drawn as a ghost without one.

    `y_domain` (lowest, highest; seconds) fixes axis and unit, for charts that are compared or dragged. `hover` shows
    the nearest step's figures; with `zoom`, Ctrl and wheel zoom along the context, dragging moves, a double click
    resets.
    """
    if not estimate.has_decode:
        return message_chart(NO_DECODE, width, height)
    ghost = pinned if pinned is not None and pinned.has_decode else None
    shown = [estimate] if ghost is None else [estimate, ghost]
    low, high = y_domain or _padded(shown)
    scale, unit = time_unit(high)
    contexts = np.concatenate([one.decode_contexts[[0, -1]] for one in shown])
    seconds_axis: dict[str, Any] = {
        "title": f"decode step ({unit})",
        "scale": alt.Scale(domain=[low / scale, high / scale], zero=False, nice=y_domain is None),
    }
    encodings: dict[str, Any] = {
        "x": context_axis(int(contexts.min()), int(contexts.max())),
        "y": alt.Y("value:Q", **seconds_axis),
    }
    layers = _band_layers(_rows(estimate, scale), encodings["x"], alt.Y("low:Q", **seconds_axis))
    lower = 0.0
    if ghost is not None:
        lower = _lower(float(estimate.decode_seconds[-1] - ghost.decode_seconds[-1]) * height / (high - low))
        layers += _line_layers(_rows(ghost, scale), encodings, GHOST, is_ghost=True, lower=-lower)
        layers += _drop_layers(_drop_rows(ghost, scale), encodings)
    layers += _line_layers(_rows(estimate, scale), encodings, INK, is_ghost=False, lower=lower)
    if hover:
        layers += _hover_layers(_rows(estimate, scale), encodings, INK, width)
    layers += _drop_layers(_drop_rows(estimate, scale), encodings)
    chart = layered(
        layers,
        width=width,
        height=height,
        title=title("Decode step by visible context", *title_lines(_reading(estimate, unit), width + _LABEL_ROOM)),
    )
    return finished(chart.add_params(_zoom()) if zoom else chart)


def _reading(estimate: Estimate, unit: str) -> list[str]:
    shaded = [] if estimate.decode_band is None else [f"shaded: {BAND_NAME}"]
    return [f"{unit} a step of the whole batch", "lower is better", *shaded]


def _lower(above: float) -> float:
    """Pixels by which the label of a line moves down, and that of the other up, so that none covers the other.

    `above` is by how many pixels the line ends above the other.
    """
    missing = max(0.0, _LABEL_APART - abs(above)) / 2
    return missing if above < 0 else -missing


def _padded(estimates: list[Estimate]) -> Domain:
    """From the least to the largest, bands too, never so near that a flat line looks steep."""
    bands = [one.decode_band for one in estimates if one.decode_band is not None]
    lines = [one.decode_seconds for one in estimates]
    low = min(float(values.min()) for values in (*lines, *(band.low_seconds for band in bands)))
    high = max(float(values.max()) for values in (*lines, *(band.high_seconds for band in bands)))
    if not high:
        return (0.0, NO_TIME)
    margin = max(0.12 * (high - low), 0.05 * high)
    return (0.0 if low < 0.5 * high else low - margin, high + margin)


def _rows(estimate: Estimate, scale: float) -> Table:
    contexts, seconds, band = estimate.decode_contexts, estimate.decode_seconds, estimate.decode_band
    batch = estimate.inputs.request.batch_size
    around = [*estimate.drop_indices.tolist(), *(estimate.drop_indices - 1).tolist()]
    wide = is_wide(int(contexts[0]), int(contexts[-1]))
    return [
        {
            "context_tokens": int(contexts[index]),
            "value": float(seconds[index]) / scale,
            "step": format_seconds(float(seconds[index])),
            "spoken": f"context {format_count(int(contexts[index]))}: {format_seconds(float(seconds[index]))}",
            "rate": rate_text(ratio(batch, float(seconds[index])), "tokens/s"),
            **_ends(band_at(band, index), float(seconds[index]), scale),
        }
        for index in kept_indices(len(contexts), _POINTS, around, logarithmic=wide)
    ]


def _ends(band: Band | None, seconds: float, scale: float) -> dict[str, Any]:
    if band is None:
        return {}
    ends = {"low": band.low_seconds, "high": band.high_seconds}
    return {**{name: float(f"{end / scale:.6g}") for name, end in ends.items()}, "band": band_text(band, seconds)}


def _drop_rows(estimate: Estimate, scale: float) -> Table:
    contexts = estimate.decode_contexts
    drops = estimate.drop_indices
    shown = drops[: _POINTS // 2]
    rows: Table = []
    for number, (index, fall) in enumerate(zip(shown, falls_of(estimate, shown), strict=True)):
        context = fall.context_tokens
        before, after = (float(seconds) for seconds in estimate.decode_seconds[index - 1 : index + 1])
        many = f" ({len(drops):,} falls in all)" if len(drops) > _MOST_LABELLED else ""
        rows.append(
            {
                "context_tokens": context,
                "value": before / scale,
                "label": f"{fall.label}{many}" if number == 0 or not many else "",
                "is_early": is_early(context, int(contexts[0]), int(contexts[-1])),
                "what": f"{format_seconds(before)} → {format_seconds(after)} at context {format_count(context)}",
                "where": ", ".join(map(component_name, fall.components)),
                "why": fall.why,
            }
        )
    return rows


def _band_layers(rows: Table, x: alt.X, low: alt.Y) -> list[alt.Chart]:
    """The band behind the line; of a single step a bar through its point."""
    if "band" not in rows[0]:
        return []
    base = alt.Chart(data(rows)).encode(x=x, y=low, y2="high:Q")
    if len(rows) == 1:
        return [base.mark_bar(size=_BAND_BAR, color=INK, opacity=_BAND_OPACITY, clip=True)]
    return [base.mark_area(line=False, color=INK, opacity=_BAND_OPACITY, clip=True)]


def _line_layers(
    rows: Table, encodings: dict[str, Any], colour: str, *, is_ghost: bool, lower: float
) -> list[alt.Chart]:
    """A line and, `lower` pixels below its end, its label."""
    style: dict[str, Any] = {"color": colour, "strokeDash": GHOST_DASH if is_ghost else [1, 0]}
    base = alt.Chart(data(rows)).encode(**encodings)
    layers = [base.mark_line(strokeWidth=2 if is_ghost else 2.5, clip=True, **style)]
    if len(rows) <= _FEW:
        layers.append(base.mark_point(filled=True, size=36, opacity=1, clip=True, color=colour))
    label = {**rows[-1], "label": f"pinned {rows[-1]['step']}" if is_ghost else rows[-1]["step"]}
    ends = alt.Chart(data([label])).encode(**encodings, text="label:N")
    layers.append(ends.mark_text(align="left", dx=7, dy=lower, clip=False, fontWeight=400 if is_ghost else 600))
    return layers


def _drop_layers(rows: Table, encodings: dict[str, Any]) -> list[alt.Chart]:
    if not rows:
        return []
    base = alt.Chart(data(rows)).encode(**encodings)
    tooltip = [
        alt.Tooltip("what:N", title="time falls"),
        alt.Tooltip("where:N", title="components"),
        alt.Tooltip("why:N", title="why"),
    ]
    words = base.transform_filter("datum.label != ''").encode(text="label:N")
    return [
        base.mark_point(
            shape="triangle-down", filled=True, size=110, opacity=1, color=TROUBLE, yOffset=-10, clip=True
        ).encode(tooltip=tooltip),
        # Left of the mark a rising line is below the words; at the left edge there is no room for them.
        words.transform_filter("!datum.is_early").mark_text(align="right", dx=-9, dy=-13, clip=False),
        words.transform_filter("datum.is_early").mark_text(align="left", dx=9, dy=-13, clip=False),
    ]


def _hover_layers(rows: Table, encodings: dict[str, Any], colour: str, width: int) -> list[alt.Chart]:
    """A strip over the whole height for each step, which answers to the pointer, and the point it speaks of."""
    pointed = alt.selection_point(
        name="pointed", on="pointerover", clear="pointerout", fields=["context_tokens"], empty=False
    )
    tooltip = [
        alt.Tooltip("context_tokens:Q", title="visible context (tokens)", format=",d"),
        alt.Tooltip("step:N", title="decode step"),
        *([alt.Tooltip("band:N", title=BAND_NAME)] if "band" in rows[0] else []),
        alt.Tooltip("rate:N", title="whole batch, without the prefill"),
    ]
    base = alt.Chart(data(rows))
    opacity = alt.when(pointed).then(alt.value(1)).otherwise(alt.value(0))
    points = base.mark_point(filled=True, size=70, color=colour, clip=True, aria=False)
    strips = base.mark_rule(strokeWidth=max(4, width / len(rows)), opacity=0, clip=True).properties(name="steps")
    return [
        points.encode(**encodings, opacity=opacity),
        strips.encode(x=encodings["x"], tooltip=tooltip, description=alt.Description("spoken:N")).add_params(pointed),
    ]


def _zoom() -> alt.Parameter:
    return alt.selection_interval(name="zoom", bind="scales", encodings=["x"], zoom="wheel![event.ctrlKey]")
