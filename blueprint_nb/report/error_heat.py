"""Few cases: a cell for each component, case and mode, deeper where the error is larger, with the number on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from ..units import format_count, format_seconds
from ..validation import VidurExperimentCase
from ..validation.comparison import CaseComparison
from .error_bar_rows import FORMULA, GAP, OUTSIDE, SUBTOTAL_NAME
from .error_marks import cut
from .error_points import ErrorPoint, cases_of, component_order, described, differing, points_of
from .error_words import size_percent
from .theme import INK, TOO_LONG, TOO_SHORT, Table, data, layered, title

_NAME_WIDTH: Final = 150
_ROW_HEIGHT: Final = 25
_NARROWEST_CELL, _WIDEST_CELL = 48, 150
_ROOM_FOR_WORDS: Final = 76
_DEEPEST: Final = 0.6
MEAN_ROW: Final = "Component MAPE"


def error_heat(
    comparisons: Sequence[CaseComparison], width: int, *, hover: bool = True, of: str = "Error"
) -> alt.FacetChart:
    """Components by case, a panel for each mode. `hover` shows a cell's figures; `of` starts the title."""
    modes = list(dict.fromkeys(one.mode for one in comparisons))
    cases = cases_of(comparisons)
    rows = [row for one in comparisons for row in _rows(one, cases)]
    order = _order(comparisons)
    panel = min(
        _WIDEST_CELL * len(cases), max(_NARROWEST_CELL * len(cases), (width - 12 * (len(modes) - 1)) // len(modes))
    )
    if panel / len(cases) < _ROOM_FOR_WORDS:
        rows = [{**row, "error": "–"} if row["state"] == "not-covered" else row for row in rows]
    base = alt.Chart(data(rows)).encode(y=_names(order, rows), x=_cases(cases))
    layers = layered(
        [*_cells(base), _numbers(base), *([_answering(base)] if hover else [])],
        width=panel,
        height=_ROW_HEIGHT * len(order),
    )
    header = alt.Header(title=None, labelFontSize=12, labelFontWeight=600, labelColor=INK, labelAnchor="start")
    chart: alt.FacetChart = layers.facet(column=alt.Column("mode:N", sort=modes, header=header), spacing=12)
    said = "error in % of the measured time · blue: estimate too short · orange: too long"
    outside = (
        [f"{OUTSIDE.strip()} outside the block, in no subtotal and no mean"] if any(OUTSIDE in n for n in order) else []
    )
    return chart.properties(title=title(f"{of} of each component by case", said, *outside))


def _order(comparisons: Sequence[CaseComparison]) -> list[str]:
    *components, subtotal = component_order(comparisons)
    return [*components, GAP, subtotal, MEAN_ROW]


def _rows(one: CaseComparison, cases: Sequence[VidurExperimentCase]) -> Table:
    column = _column(one.frozen.case, cases)
    mean = {"row": MEAN_ROW, "case": column, "mode": one.mode, "error": size_percent(one.component_mape_percent)}
    return [*(_cell(point, column) for point in points_of(one)), {**mean, "depth": 0, "state": "mean"}]


def _cell(point: ErrorPoint, column: str) -> dict[str, Any]:
    measured = "not covered" if point.reference_seconds is None else format_seconds(point.reference_seconds)
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
    }


def _column(case: VidurExperimentCase, cases: Sequence[VidurExperimentCase]) -> str:
    """ "decode 129, TP 2": what tells a case from the others."""
    told = [described(case)[name] for name in differing(cases)]
    return ", ".join([f"{case.phase} {format_count(case.context_tokens)}", *told])


def _names(order: list[str], rows: Table) -> alt.Y:
    covered = {row["row"] for row in rows if row["state"] != "not-covered"}
    missing = [name for name in order if name not in covered and name != GAP]
    axis = alt.Axis(
        minExtent=_NAME_WIDTH,
        labelLimit=_NAME_WIDTH,
        ticks=False,
        domain=False,
        labelOpacity={"condition": {"test": f"indexof({missing!r}, datum.value) >= 0", "value": 0.55}, "value": 1},
        labelFontWeight={"condition": {"test": f"datum.value == '{SUBTOTAL_NAME}'", "value": 600}, "value": 400},
    )
    return alt.Y("row:N", title=None, sort=None, scale=alt.Scale(domain=order), axis=axis)


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
    tooltip = [
        alt.Tooltip("row:N", title="component"),
        alt.Tooltip("case:N", title="case"),
        alt.Tooltip("mode:N", title="cost mode"),
        alt.Tooltip("estimate:N", title="estimate"),
        alt.Tooltip("reference:N", title="measured"),
        alt.Tooltip("formula:N", title="error"),
    ]
    cells = base.transform_filter("datum.state != 'mean'").transform_calculate(
        formula=f"datum.state == 'matched' ? {FORMULA} : datum.error",
        spoken="datum.row + ', ' + datum.case + ', ' + datum.mode + ': ' + datum.error",
    )
    chart: alt.Chart = cells.mark_rect(opacity=0).encode(tooltip=tooltip, description=alt.Description("spoken:N"))
    return chart


def _numbers(base: alt.Chart) -> alt.Chart:
    faint = alt.when("datum.state == 'not-covered'").then(alt.value(0.55)).otherwise(alt.value(1))
    numbers: alt.Chart = base.mark_text(fontSize=11, aria=False).encode(text="error:N", opacity=faint)
    return numbers
