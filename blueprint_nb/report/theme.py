"""One look for every chart: Okabe-Ito colours that keep their meaning, a faint grid, text in the page's colour.

Text and lines are drawn in `currentColor`, which an SVG takes from the page around it, so that a chart reads on light
and dark alike. Colour never stands alone: dash, shape or words say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

import altair as alt

COMPUTE: Final = "#0072B2"
MEMORY: Final = "#E69F00"
NETWORK: Final = "#009E73"
FLOOR: Final = "#999999"
GHOST: Final = "#999999"
TROUBLE: Final = "#D55E00"

TERM_COLOURS: Final = {"floor": FLOOR, "compute": COMPUTE, "memory": MEMORY, "network": NETWORK}
"""Of a component's time, in the order that bars are drawn; a floor is launches and waits."""

PART_COLOURS: Final = ["#56B4E9", "#CC79A7", "#F0E442", "#BBBBBB"]
"""Parts of memory, from the bottom of the stack; none has the colour of a term."""

MODE_COLOURS: Final = {"peak-only": GHOST, "system-evidence": "#CC79A7", "calibrated": "#6A5ACD"}
"""Where cost modes are compared. What assumes peaks is a floor, drawn hollow; the third is none of Okabe-Ito, whose
others mean terms and signs, but as legible on light and dark."""

TOO_SHORT: Final = "#56B4E9"
TOO_LONG: Final = TROUBLE
"""Where a sign is a colour: an estimate below and above what was measured."""

NO_TIME: Final = 1e-9
"""Length of an axis (seconds) for steps that were asserted to take no time."""

INK: Final = "currentColor"
"""Of text and lines: the page's own."""

GHOST_DASH: Final = [5, 4]
LIMIT_DASH: Final = [8, 3]
FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

_EMBED: Final = {
    "renderer": "svg",
    "actions": {"export": True, "source": False, "compiled": False, "editor": False},
}

ChartT = TypeVar("ChartT", alt.Chart, alt.LayerChart, alt.FacetChart, alt.HConcatChart, alt.VConcatChart)
ReportChart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart | alt.VConcatChart
Table = list[dict[str, Any]]


def data(rows: Table) -> alt.InlineData:
    """Rows as chart data, as they are."""
    return alt.InlineData(values=rows)


def title(text: str, *subtitle: str) -> alt.TitleParams:
    """A title, and what to know before reading."""
    return alt.TitleParams(text, subtitle=list(subtitle)) if subtitle else alt.TitleParams(text)


def layered(layers: Sequence[alt.Chart], **properties: Any) -> alt.LayerChart:
    """Charts on top of each other, the first at the bottom."""
    return alt.LayerChart(layer=list(layers), **properties)


def finished(chart: ChartT) -> ChartT:
    """`chart` in the common look."""
    axis = {
        "labelColor": INK,
        "titleColor": INK,
        "gridColor": INK,
        "domainColor": INK,
        "tickColor": INK,
        "gridOpacity": 0.12,
        "domainOpacity": 0.5,
        "tickOpacity": 0.5,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    }
    config = {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": axis,
        "legend": {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "symbolStrokeWidth": 1},
        "title": {
            "color": INK,
            "subtitleColor": INK,
            "anchor": "start",
            "frame": "group",
            "fontSize": 14,
            "fontWeight": 600,
            "subtitleFontSize": 12,
            "offset": 12,
        },
        "text": {"color": INK, "fontSize": 12},
        "rule": {"color": INK},
    }
    done: ChartT = chart.properties(config=config, usermeta={"embedOptions": _EMBED})
    return done


def message_chart(text: str, width: int, height: int) -> alt.Chart:
    """Words in the place and size of a chart that has nothing to show."""
    chart: alt.Chart = (
        alt.Chart(data([{"text": text}]), width=width, height=height)
        .mark_text(fontSize=14, align="center")
        .encode(text="text:N", x=alt.value(width / 2), y=alt.value(height / 2))
    )
    return finished(chart)
