"""What charts of errors share: the axis of names, that of errors, the figures that a mark answers with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from .error_marks import FULL_PERCENT
from .error_words import BAND, NOT_COVERED, SUBTOTAL
from .theme import INK

GAP: Final = " "
"""Between components and subtotal."""

FORMULA: Final = "'(' + datum.estimate + ' − ' + datum.reference + ') / ' + datum.reference + ' = ' + datum.error"
"""(26.9 µs − 30.0 µs) / 30.0 µs = −10.4 %."""

FAINT: Final = 0.55
"""Opacity of what nothing covers."""

_NAME_WIDTH: Final = 150
_TITLES: Final = {
    "row": "component",
    "component": "component",
    "case": "case",
    "mode": "cost mode",
    "series": "line",
    "estimate": "estimate",
    "reference": "measured",
    "formula": "error",
    "band": BAND,
    "words": "measurement",
    "why": NOT_COVERED,
}


def name_axis(order: list[str], faint: Sequence[str], **scale: Any) -> alt.Y:
    """Names in their order, those of `faint` faint, the subtotal's bold."""
    axis = alt.Axis(
        minExtent=_NAME_WIDTH,
        labelLimit=_NAME_WIDTH,
        ticks=False,
        domain=False,
        grid=False,
        labelOpacity=_where(f"indexof({json.dumps(list(faint), ensure_ascii=False)}, datum.value) >= 0", FAINT, 1),
        labelFontWeight=_where(f"datum.value == {json.dumps(SUBTOTAL)}", 600, 400),
    )
    return alt.Y("row:N", sort=None, title=None, axis=axis, scale=alt.Scale(domain=order, **scale))


def error_axis(title: str, values: Sequence[int], reach: float) -> dict[str, Any]:
    """Axis and scale in percent of the reference; half of it is `reach` lengths of 100 %."""
    end = FULL_PERCENT * reach
    labels = "datum.value == 0 ? '0' : format(datum.value, '+d')"
    axis = alt.Axis(title=title, values=list(values), labelExpr=labels)
    return {"scale": alt.Scale(domain=[-end, end], nice=False), "axis": axis}


def figures(*fields: str) -> list[alt.Tooltip]:
    """What a mark answers with."""
    return [alt.Tooltip(f"{field}:N", title=_TITLES[field]) for field in fields]


def panel_header() -> alt.Header:
    """Of the panels of a chart."""
    return alt.Header(title=None, labelFontSize=12, labelFontWeight=600, labelColor=INK, labelAnchor="start")


def _where(test: str, value: Any, otherwise: Any) -> Any:
    return {"condition": {"test": test, "value": value}, "value": otherwise}
