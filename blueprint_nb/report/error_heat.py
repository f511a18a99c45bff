"""Few cases: a cell for each component, case and mode, deeper where the error is larger, with the number on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from ..analysis.bands import band_text
from ..units import NO_FIGURE, format_count, format_seconds
from ..validation import VidurExperimentCase
from ..validation.comparison import CaseComparison
from .error_axes import FAINT, FORMULA, GAP, figures, name_axis, panel_header
from .error_bar_rows import band_words
from .error_marks import cut
from .error_points import ErrorPoint, cases_of, component_order, described, differing, modes_of, points_of
from .error_words import (
    BAND,
    COMPONENT_MAPE,
    NOT_COVERED,
    OUTSIDE,
    OUTSIDE_WORDS,
    size_percent,
)
from .theme import TOO_LONG, TOO_SHORT, Table, data, layered, title

_ROW_HEIGHT: Final = 25
_NARROWEST_CELL, _WIDEST_CELL = 48, 150
_ROOM_FOR_WORDS: Final = 66
_DEEPEST: Final = 0.6

BAND_ROW: Final = f"Within {BAND}"


def error_heat(
    comparisons: Sequence[CaseComparison], width: int, *, hover: bool = True, of: str = "Error"
) -> alt.FacetChart:
    """Components by case, a panel for each mode. `hover` shows a cell's figures; `of` starts the title."""
    modes = modes_of(comparisons)
    cases = cases_of(comparisons)
    rows = [row for one in comparisons for row in _rows(one, cases)]
    order = _order(comparisons)
    panel = min(
        _WIDEST_CELL * len(cases), max(_NARROWEST_CELL * len(cases), (width - 12 * (len(modes) - 1)) // len(modes))
    )
    if panel / len(cases) < _ROOM_FOR_WORDS:
        rows = [{**row, "error": NO_FIGURE} if row["state"] == "not-covered" else row for row in rows]
    base = alt.Chart(data(rows)).encode(y=name_axis(order, _missing(order, rows)), x=_cases(cases))
    layers = layered(
        [*_cells(base), _numbers(base), *([_answering(base)] if hover else [])],
        width=panel,
        height=_ROW_HEIGHT * len(order),
    )
    column = alt.Column("mode:N", sort=modes, header=panel_header())
    chart: alt.FacetChart = layers.facet(column=column, spacing=12)
    said = "error in % of the measured time · blue: estimate too short · orange: too long"
    outside = [f"{OUTSIDE.strip()} {OUTSIDE_WORDS}"] if any(name.endswith(OUTSIDE) for name in order) else []
    return chart.properties(title=title(f"{of} of each component by case", said, *outside))


def _order(comparisons: Sequence[CaseComparison]) -> list[str]:
    *components, subtotal = component_order(comparisons)
    banded = [BAND_ROW] if any(one.in_bands for one in comparisons) else []
    return [*components, GAP, subtotal, COMPONENT_MAPE, *banded]


def _rows(one: CaseComparison, cases: Sequence[VidurExperimentCase]) -> Table:
    column = _column(one.frozen.case, cases)
    mean = {"row": COMPONENT_MAPE, "case": column, "mode": one.mode, "error": size_percent(one.component_mape_percent)}
    in_band = {**mean, "row": BAND_ROW, "error": _in_band(one)}
    means = [{**figure, "depth": 0, "state": "mean"} for figure in (mean, *([in_band] if one.in_bands else []))]
    return [*(_cell(point, column) for point in points_of(one)), *means]


def _in_band(one: CaseComparison) -> str:
    return f"{format_count(sum(one.in_bands))} of {format_count(len(one.in_bands))}"


def _cell(point: ErrorPoint, column: str) -> dict[str, Any]:
    measured = NOT_COVERED if point.reference_seconds is None else format_seconds(point.reference_seconds)
    estimate = format_seconds(point.seconds)
    percent = point.error_percent if point.state == "matched" else None
    return {
        "row": point.component,
        "case": column,
        "mode": point.mode,
        "state": point.state,
        "depth": 0 if percent is None else cut(percent) / 100,
        "estimate": estimate,
        "reference": measured,
        "error": point.error,
        "band": band_words(band_text(point.band, point.seconds), point.in_band),
    }


def _column(case: VidurExperimentCase, cases: Sequence[VidurExperimentCase]) -> str:
    """ "decode 129, TP 2": what tells a case from the others."""
    told = [described(case)[name] for name in differing(cases)]
    return ", ".join([f"{case.phase} {format_count(case.context_tokens)}", *told])


def _missing(order: list[str], rows: Table) -> list[str]:
    """What no case covers."""
    covered = {row["row"] for row in rows if row["state"] != "not-covered"}
    return [name for name in order if name not in covered and name != GAP]


def _cases(cases: Sequence[VidurExperimentCase]) -> alt.X:
    names = list(dict.fromkeys(_column(case, cases) for case in cases))
    axis = alt.Axis(title=None, orient="top", labelAngle=0, ticks=False, domain=False, labelLimit=140)
    return alt.X("case:N", sort=None, scale=alt.Scale(domain=names), axis=axis)


def _cells(base: alt.Chart) -> list[alt.Chart]:
    depth = alt.FillOpacity("size:Q", scale=alt.Scale(domain=[0, 1], range=[0, _DEEPEST]), legend=None)
    sides = {TOO_SHORT: "datum.depth < 0", TOO_LONG: "datum.depth > 0"}
    return [
        base.transform_filter(test)
        .transform_calculate(size="abs(datum.depth)")
        .mark_rect(fill=colour, cornerRadius=2, xOffset=1, yOffset=1, x2Offset=-1, y2Offset=-1, aria=False)
        .encode(fillOpacity=depth)
        for colour, test in sides.items()
    ]


def _answering(base: alt.Chart) -> alt.Chart:
    tooltip = figures("row", "case", "mode", "estimate", "reference", "formula", "band")
    cells = base.transform_filter("datum.state != 'mean'").transform_calculate(
        formula=f"datum.state == 'matched' ? {FORMULA} : datum.error",
        spoken="datum.row + ', ' + datum.case + ', ' + datum.mode + ': ' + datum.error",
    )
    chart: alt.Chart = cells.mark_rect(opacity=0).encode(tooltip=tooltip, description=alt.Description("spoken:N"))
    return chart


def _numbers(base: alt.Chart) -> alt.Chart:
    faint = alt.when("datum.state == 'not-covered'").then(alt.value(FAINT)).otherwise(alt.value(1))
    numbers: alt.Chart = base.mark_text(fontSize=11, aria=False).encode(text="error:N", opacity=faint)
    return numbers
