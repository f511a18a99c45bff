"""The errors of one case as bars: zero in the middle, all modes of a component side by side.

The axis is the same for every case, so that a small error looks small: a bar that would pass +100 % is cut there and
marked, and its number says how far it goes. A whisker spans the band of an estimate that has one: it crosses zero
where the measurement lies in the band.
"""

from __future__ import annotations

from typing import Any, Final

import altair as alt

from .error_axes import FORMULA, GAP, error_axis, figures, name_axis
from .error_bar_rows import bar_rows, direct_labels, row_names, uncovered_rows
from .error_rows import CaseErrors
from .error_words import BAND, OUTSIDE, OUTSIDE_WORDS
from .mode_style import mode_fill, mode_stroke
from .theme import INK, data, finished, layered, message_chart, title

_AXIS_TITLE: Final = "← estimate too short · error (% of measured) · estimate too long →"
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
    y = name_axis(order, [row["row"] for row in uncovered_rows(errors)], paddingInner=0.2)
    said = [f"error of each component's estimate{_outside(errors)}"]
    if errors.banded_mode:
        said.append(f"whisker: {BAND} of {errors.banded_mode}; it crosses zero where the measurement lies in it")
    chart = layered(
        [*_zero(order, y), *_bars(errors, y, hover), *_words(errors, y)],
        width=width,
        height=row_height * len(order),
        title=title(errors.title, *said),
    )
    return finished(chart)


def _outside(errors: CaseErrors) -> str:
    return f" ·{OUTSIDE} {OUTSIDE_WORDS}" if any(not row.in_block for row in errors.rows) else ""


def _error_axis(field: str = "end") -> alt.X:
    return alt.X(f"{field}:Q", **error_axis(_AXIS_TITLE, [-100, -50, 0, 50, 100], _REACH))


def _zero(order: list[str], y: alt.Y) -> list[alt.Chart]:
    line = alt.Chart(data([{"end": 0}])).mark_rule(opacity=0.6, aria=False).encode(x=_error_axis())
    apart = alt.Chart(data([{"row": GAP}])).mark_rule(opacity=0.35, aria=False).encode(y=y)
    return [line, apart.encode(x=alt.value(0), x2=alt.value("width"))]


def _bars(errors: CaseErrors, y: alt.Y, hover: bool) -> list[alt.Chart]:
    base = alt.Chart(data(bar_rows(errors))).encode(y=y, yOffset=_lanes(errors))
    layers = [_bar_layer(base, mode) for mode in errors.modes]
    if errors.banded_mode:
        whisker = base.transform_filter("datum.high > datum.low").mark_rule(opacity=0.8, strokeWidth=1.2, aria=False)
        layers.append(whisker.encode(x=_error_axis("low"), x2="high:Q"))
    cut = base.transform_filter("datum.is_cut").mark_point(
        shape="triangle-right", filled=True, size=70, xOffset=5, opacity=1, color=INK, aria=False
    )
    layers.append(cut.encode(x=_error_axis()))
    left = base.transform_filter("datum.end < 0").mark_text(align="right", dx=-5, fontSize=11, aria=False)
    right = base.transform_filter("datum.end >= 0").mark_text(
        align="left", dx={"expr": "datum.is_cut ? 13 : 5"}, fontSize=11, aria=False
    )
    layers += [text.encode(x=_error_axis("number_at"), text="error:N") for text in (left, right)]
    return [*layers, _answering(base, errors)] if hover else layers


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
    tooltip = figures("row", "estimate", "why")
    words = missing.mark_text(align="left", dx=6, fontSize=11, opacity=0.65)
    return [*layers, words.encode(x=alt.XDatum(0), text="words:N", tooltip=tooltip, description="words:N")]


def _answering(base: alt.Chart, errors: CaseErrors) -> alt.Chart:
    """The whole lane answers to the pointer, however short its bar; a screen reader hears it once."""
    banded = ["band"] if errors.banded_mode else []
    tooltip = figures("row", "mode", "estimate", "reference", "formula", *banded, "words")
    spoken = "datum.row + ', ' + datum.mode + ': ' + datum.error"
    lane = base.transform_calculate(formula=FORMULA, spoken=spoken).mark_bar(size=_LANE, opacity=0)
    chart: alt.Chart = lane.encode(
        x=alt.value(0), x2=alt.value("width"), tooltip=tooltip, description=alt.Description("spoken:N")
    )
    return chart


def _lanes(errors: CaseErrors) -> alt.YOffset:
    return alt.YOffset("mode:N", scale=alt.Scale(domain=list(errors.modes)))
