"""The errors of one case as bars: zero in the middle, both modes of a component side by side.

The axis is the same for every case, so that a small error looks small: a bar that would pass +100 % is cut there and
marked, and its number says how far it goes.
"""

from __future__ import annotations

import json
from typing import Any, Final

import altair as alt

from .error_bar_rows import (
    FORMULA,
    GAP,
    OUTSIDE,
    SUBTOTAL_NAME,
    bar_rows,
    direct_labels,
    row_names,
    uncovered_rows,
)
from .error_marks import FULL_PERCENT
from .error_rows import CaseErrors
from .mode_style import mode_fill, mode_stroke
from .theme import INK, data, finished, layered, message_chart, title

_AXIS_TITLE: Final = "← estimate too short · error (% of measured) · estimate too long →"
_NAME_WIDTH: Final = 150
_LANE: Final = 14
_PADDING: Final = 8
_BAR: Final = 11
_REACH: Final = 1.5
"""Half of the axis in lengths of a full bar: the rest is room for the numbers."""


def error_bars(errors: CaseErrors, *, width: int = 640, hover: bool = True) -> alt.Chart | alt.LayerChart:
    """Signed error of each component in plan order, the subtotal apart; what is not covered says so.

    `hover` shows a bar's figures.
    """
    order = row_names(errors)
    row_height = _LANE * len(errors.modes) + _PADDING
    if not bar_rows(errors):
        return message_chart(errors.sentences[0], width, 4 * row_height)
    y = _names(errors, order)
    outside = f" ·{OUTSIDE} outside the block, in no subtotal" if any(not row.in_block for row in errors.rows) else ""
    chart = layered(
        [*_zero(order, y), *_bars(errors, y, hover), *_words(errors, y)],
        width=width,
        height=row_height * len(order),
        title=title(errors.title, f"error of each component's estimate{outside}"),
    )
    return finished(chart)


def _error_axis() -> alt.X:
    """Error in percent of the reference, from −100 to +100 and room for numbers."""
    reach = FULL_PERCENT * _REACH
    labels = "datum.value == 0 ? '0' : format(datum.value, '+d')"
    axis = alt.Axis(title=_AXIS_TITLE, values=[-100, -50, 0, 50, 100], labelExpr=labels)
    return alt.X("end:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis)


def _names(errors: CaseErrors, order: list[str]) -> alt.Y:
    uncovered = json.dumps([row["row"] for row in uncovered_rows(errors)])
    axis = alt.Axis(
        minExtent=_NAME_WIDTH,
        labelLimit=_NAME_WIDTH,
        ticks=False,
        domain=False,
        grid=False,
        labelOpacity=_where(f"indexof({uncovered}, datum.value) >= 0", 0.55, 1),
        labelFontWeight=_where(f"datum.value == '{SUBTOTAL_NAME}'", 600, 400),
    )
    return alt.Y("row:N", sort=None, title=None, axis=axis, scale=alt.Scale(domain=order, paddingInner=0.2))


def _where(test: str, value: Any, otherwise: Any) -> Any:
    return {"condition": {"test": test, "value": value}, "value": otherwise}


def _zero(order: list[str], y: alt.Y) -> list[alt.Chart]:
    line = alt.Chart(data([{"end": 0}])).mark_rule(opacity=0.6, aria=False).encode(x=_error_axis())
    apart = alt.Chart(data([{"row": GAP}])).mark_rule(opacity=0.35, aria=False).encode(y=y)
    return [line, apart.encode(x=alt.value(0), x2=alt.value("width"))]


def _bars(errors: CaseErrors, y: alt.Y, hover: bool) -> list[alt.Chart]:
    base = alt.Chart(data(bar_rows(errors))).encode(y=y, yOffset=_lanes(errors))
    layers = [_bar_layer(base, mode) for mode in errors.modes]
    cut = base.transform_filter("datum.is_cut").mark_point(
        shape="triangle-right", filled=True, size=70, xOffset=5, opacity=1, color=INK, aria=False
    )
    layers.append(cut.encode(x=_error_axis()))
    left = base.transform_filter("datum.end < 0").mark_text(align="right", dx=-5, fontSize=11, aria=False)
    right = base.transform_filter("datum.end >= 0").mark_text(
        align="left", dx={"expr": "datum.is_cut ? 13 : 5"}, fontSize=11, aria=False
    )
    layers += [text.encode(x=_error_axis(), text="error:N") for text in (left, right)]
    return [*layers, _answering(base)] if hover else layers


def _bar_layer(base: alt.Chart, mode: str) -> alt.Chart:
    drawn = base.transform_filter(alt.datum.mode == mode).mark_bar(size=_BAR, aria=False, **mode_fill(mode))
    chart: alt.Chart = drawn.encode(
        x=_error_axis(),
        x2=alt.datum(0),
        strokeDash=alt.when("datum.is_flagged").then(alt.value([3, 2])).otherwise(alt.value([1, 0])),
        stroke=alt.value(mode_stroke(mode)),
    )
    return chart


def _words(errors: CaseErrors, y: alt.Y) -> list[alt.Chart]:
    """The modes' names beside the first bars; "not covered" where there is none."""
    base = alt.Chart(data(direct_labels(errors))).encode(y=y, yOffset=_lanes(errors), text="label:N")
    name: dict[str, Any] = {"fontSize": 11, "fontWeight": 600, "aria": False}
    right = base.transform_filter("datum.is_right").mark_text(align="left", dx=6, **name)
    left = base.transform_filter("!datum.is_right").mark_text(align="right", dx=-6, **name)
    layers = [text.encode(x=alt.XDatum(0)) for text in (right, left)]
    uncovered = uncovered_rows(errors)
    if not uncovered:
        return layers
    missing = alt.Chart(data(uncovered)).encode(y=y)
    names = {"row": "component", "estimate": "estimate", "why": "not covered"}
    tooltip = [alt.Tooltip(f"{field}:N", title=name) for field, name in names.items()]
    words = missing.mark_text(align="left", dx=6, fontSize=11, opacity=0.65)
    return [*layers, words.encode(x=alt.XDatum(0), text="words:N", tooltip=tooltip, description="words:N")]


def _answering(base: alt.Chart) -> alt.Chart:
    """The whole lane answers to the pointer, however short its bar; a screen reader hears it once."""
    tooltip = [
        alt.Tooltip("row:N", title="component"),
        alt.Tooltip("mode:N", title="cost mode"),
        alt.Tooltip("estimate:N", title="estimate"),
        alt.Tooltip("reference:N", title="measured"),
        alt.Tooltip("formula:N", title="error"),
        alt.Tooltip("words:N", title="measurement"),
    ]
    spoken = "datum.row + ', ' + datum.mode + ': ' + datum.error"
    lane = base.transform_calculate(formula=FORMULA, spoken=spoken).mark_bar(size=_LANE, opacity=0)
    chart: alt.Chart = lane.encode(
        x=alt.value(0), x2=alt.value("width"), tooltip=tooltip, description=alt.Description("spoken:N")
    )
    return chart


def _lanes(errors: CaseErrors) -> alt.YOffset:
    return alt.YOffset("mode:N", scale=alt.Scale(domain=list(errors.modes)))
