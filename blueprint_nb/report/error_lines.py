"""Errors over tokens and context: a panel for each component, a line for each mode; a heat map where cases are few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import altair as alt

from ..validation import VidurExperimentReport
from ..validation.comparison import CaseComparison
from .context_axis import context_axis
from .error_axes import FORMULA, error_axis, figures, panel_header
from .error_heat import error_heat
from .error_marks import FULL_PERCENT
from .error_points import PHASES, Axis, axis_of, cases_of, component_order, modes_of, of_phase
from .error_series import LISTS, Lines, line_rows, lines_of, said_of_lines
from .error_words import BAND
from .mode_style import mode_colour, mode_dash
from .theme import Table, data, finished, layered, title

FEW_CASES: Final = 5
"""Up to so many have room for their numbers."""

_PANEL_HEIGHT: Final = 84
_PANEL_WIDTH: Final = 150
_GAP: Final = 16
_MOST_TICKS: Final = 5
_BAND_OPACITY: Final = 0.25
_REACH: Final = 1.18
"""Half of the axis in lengths of 100 %: lines and marks at 100 % keep clear of the frame."""


def error_lines(
    report: VidurExperimentReport, *, width: int = 640, hover: bool = True, most_points: int = 3_000
) -> alt.FacetChart | alt.VConcatChart | None:
    """Errors of all cases in one view; None where nothing is compared.

    `hover` shows a point's figures; lines are thinned to `most_points` in all.
    """
    by_phase = {phase: found for phase in PHASES if (found := of_phase(report, phase))}
    everything = [one for found in by_phase.values() for one in found]
    if not everything:
        return None
    if len(cases_of(everything)) <= FEW_CASES:
        return finished(error_heat(everything, width, hover=hover))
    most = most_points // len(by_phase)
    parts = [_part(phase, found, width, hover, most) for phase, found in by_phase.items()]
    if len(parts) == 1:
        return finished(parts[0])
    both: alt.VConcatChart = alt.VConcatChart(vconcat=parts, spacing=36).resolve_legend(
        color="independent", strokeDash="independent"
    )
    return finished(both)


def _part(phase: str, found: Sequence[CaseComparison], width: int, hover: bool, most_points: int) -> alt.FacetChart:
    if len(cases_of(found)) <= FEW_CASES:
        return error_heat(found, width, hover=hover, of=f"{phase.capitalize()}: error")
    return _panels(phase, found, width, hover, most_points)


def _panels(phase: str, found: Sequence[CaseComparison], width: int, hover: bool, most_points: int) -> alt.FacetChart:
    axis = axis_of(cases_of(found), phase)
    lines = lines_of(found, axis)
    rows = line_rows(lines, most_points)
    layers = layered(_layers(_base(rows, axis), found, rows, hover), width=_panel_width(width), height=_PANEL_HEIGHT)
    chart: alt.FacetChart = layers.facet(
        facet=alt.Facet("component:N", sort=component_order(found), header=panel_header()),
        columns=_columns(width),
        spacing=_GAP,
    ).resolve_axis(x="independent")
    heading = f"{phase.capitalize()}: error of each component over the {axis.title}"
    points = alt.FlattenTransform(flatten=list(LISTS))
    return chart.properties(title=title(heading, *_reading(lines, _banded(rows))), transform=[points])


def _columns(width: int) -> int:
    return max(1, (width + _GAP) // (_PANEL_WIDTH + _GAP))


def _panel_width(width: int) -> int:
    columns = _columns(width)
    return max(_PANEL_WIDTH // 2, (width - _GAP * (columns - 1)) // columns)


def _banded(rows: Table) -> str:
    """The mode whose estimates have bands; empty where there is none."""
    return next((str(row["mode"]) for row in rows if row["low"]), "")


def _reading(lines: Lines, banded: str) -> list[str]:
    said = said_of_lines(lines)
    band = f"area: {BAND} of {banded}; it holds zero where the measurement lies in it"
    reading = "error in % of the measured time · below 0: estimate too short"
    return [reading, *([band] if banded else []), *([said] if said else [])]


def _base(rows: Table, axis: Axis) -> alt.Chart:
    tokens = [count for row in rows for count in row["context_tokens"]]
    x = context_axis(min(tokens), max(tokens), label=axis.title, most_ticks=_MOST_TICKS)
    chart: alt.Chart = alt.Chart(data(rows)).encode(x=x, y=_errors(), detail="series:N")
    return chart


def _errors(field: str = "end") -> alt.Y:
    return alt.Y(f"{field}:Q", **error_axis("error (%)", [-100, 0, 100], _REACH))


def _layers(base: alt.Chart, found: Sequence[CaseComparison], rows: Table, hover: bool) -> list[alt.Chart]:
    modes = modes_of(found)
    legend = alt.Legend(
        title=None, orient="top", direction="horizontal", symbolType="stroke", symbolStrokeWidth=2.5, symbolSize=400
    )
    colour = alt.Color(
        "mode:N", scale=alt.Scale(domain=modes, range=[mode_colour(mode) for mode in modes]), legend=legend
    )
    dash = alt.StrokeDash("mode:N", scale=alt.Scale(domain=modes, range=[mode_dash(mode) for mode in modes]))
    # One row a panel: a rule for each point would be drawn over and over.
    zero = alt.Chart(base.data).transform_aggregate(lines="count()").mark_rule(opacity=0.45, aria=False)
    layers = [
        *([_band(base, banded)] if (banded := _banded(rows)) else []),
        zero.encode(y=alt.YDatum(0)),
        base.mark_line(strokeWidth=1.8, aria=False).encode(color=colour, strokeDash=dash),
    ]
    dots = base.transform_filter("datum.has_dots").mark_point(filled=True, size=22, opacity=1, aria=False)
    layers.append(dots.encode(color=colour))
    if any(max(row["end"]) >= FULL_PERCENT for row in rows):
        cut = base.transform_filter(f"datum.end >= {FULL_PERCENT}")
        mark = cut.mark_point(shape="triangle-up", filled=True, size=34, opacity=1, aria=False)
        layers.append(mark.encode(color=colour))
    return [*layers, _answering(base, any(row["series"] for row in rows))] if hover else layers


def _band(base: alt.Chart, mode: str) -> alt.Chart:
    """Of the mode that has one: from the error at its low end to that at its high end."""
    found = base.transform_filter("isValid(datum.low)")
    area = found.mark_area(color=mode_colour(mode), opacity=_BAND_OPACITY, aria=False)
    chart: alt.Chart = area.encode(y=_errors("low"), y2="high:Q")
    return chart


def _answering(base: alt.Chart, has_series: bool) -> alt.Chart:
    named = figures("component", "mode", *(["series"] if has_series else []))
    tooltip = [*named, alt.Tooltip("context_tokens:Q", title="tokens", format=",d"), *figures("formula")]
    points = base.transform_calculate(formula=FORMULA)
    chart: alt.Chart = points.mark_point(size=120, opacity=0, filled=True, aria=False).encode(tooltip=tooltip)
    return chart
