"""An experiment as text: means first, then tables for each case, cut where they would flood a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..report.error_rows import CaseErrors, ErrorCell, ErrorRow, case_errors, case_names
from ..report.error_sentences import report_sentences
from ..report.error_words import BAND, FLAGGED, cases_text
from ..units import NO_FIGURE
from ..validation import VidurExperimentReport
from .tables import Column, table, table_lines, wrapped

MOST_LISTED: Final = 40
"""Cases in the list of all."""

MOST_TABLES: Final = 4
"""Cases whose components are shown."""

_GAP: Final = 2
"""Spaces between columns."""

_HELD: Final = {True: "yes", False: "no", None: ""}


def report_text(report: VidurExperimentReport, assertion: str) -> str:
    """What was compared with what, means over all cases, a list of the cases, and each with its components."""
    names = case_names(report)
    cases = [case_errors(report, name) for name in names[:MOST_LISTED]]
    notes = _Notes()
    parts = [_head(report, assertion)]
    if len(cases) > 1:
        parts.append(_list_of(cases))
    parts += [_case_text(case, notes) for case in cases[:MOST_TABLES]]
    return "\n\n".join(filter(None, [*parts, notes.text()]))


def left_out(report: VidurExperimentReport) -> str:
    """What the text does not show; empty where it shows everything."""
    count = len(case_names(report))
    if count > MOST_LISTED:
        listed = cases_text(count, MOST_LISTED)
        return f"the first {listed} are listed, the components of the first {MOST_TABLES} shown"
    return f"the components of the first {cases_text(count, MOST_TABLES)} are shown" if count > MOST_TABLES else ""


class _Notes:
    """What to know about single rows, each said once, by number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, row: ErrorRow) -> str:
        """What stands beside a row: [2]; a flagged row's note starts with that it is."""
        return f"[{self._numbers.setdefault(row.said, len(self._numbers) + 1)}]" if row.said else ""

    def text(self) -> str:
        """The notes, in their order."""
        return "\n".join(wrapped(words, f"[{number}] ", "    ") for words, number in self._numbers.items())


def _head(report: VidurExperimentReport, assertion: str) -> str:
    case = report.frozen.cases[0].case
    mapping = case.mapping
    title = f"{case.model.name} on {case.hardware.name} · {case.phase} · TP {mapping.tensor_parallel} · "
    title += f"PP {mapping.pipeline_parallel} · {case.datatype}"
    return "\n".join(wrapped(text) for text in (title, *filter(None, (assertion, *report_sentences(report)))))


def _list_of(cases: Sequence[CaseErrors]) -> str:
    columns = [
        Column("case", [case.case for case in cases], "", "left"),
        Column("compared", [case.coverage for case in cases], "", "left"),
    ]
    modes = cases[0].modes
    for index in range(len(modes)):
        columns.append(Column("subtotal", [case.subtotal.cells[index].error for case in cases], "", "point"))
        columns.append(Column("MAPE", [case.mape[index] for case in cases], "", "point"))
    head, lines = table_lines(columns)
    return "\n".join([_over_pairs(columns, modes), *head, *lines])


def _case_text(case: CaseErrors, notes: _Notes) -> str:
    sentences = [wrapped(sentence) for sentence in case.sentences]
    says_all = not case.is_compared and len({row.words for row in case.rows if row.in_block}) == 1
    tables = [] if says_all else [*_rows(case, notes), "", *_bands(case), _whole(case), ""]
    return "\n".join([case.title, *tables, *sentences])


def _rows(case: CaseErrors, notes: _Notes) -> list[str]:
    """A line for each component, and under a rule one for the subtotal."""
    rows = [*case.rows, case.subtotal]
    columns = [
        Column("component", [row.component for row in rows], "", "left"),
        Column("measured", [_reference(row) for row in rows]),
    ]
    for index in range(len(case.modes)):
        columns.append(Column("estimate", [row.cells[index].estimate for row in rows]))
        columns.append(Column("error", [row.cells[index].error for row in rows], "", "point"))
    columns.append(Column("", [notes.mark(row) for row in rows], "", "left"))
    return [_over_pairs(columns, case.modes), *_ruled(columns)]


def _bands(case: CaseErrors) -> list[str]:
    """The measurements beside the bands of the mode that has them, and how each was priced; nothing without one."""
    mode = case.banded_mode
    if not mode:
        return []
    rows = [(row, cell) for row in (*case.rows, case.subtotal) for cell in row.cells if cell.mode == mode]
    columns = [
        Column(mode, [row.component for row, _ in rows], "", "left"),
        Column("measured", [_reference(row) for row, _ in rows]),
        Column(BAND, [cell.band or NO_FIGURE for _, cell in rows]),
        Column("within", [_within(row, cell) for row, cell in rows], "", "left"),
        Column("parameters", [cell.match for _, cell in rows], "", "left"),
    ]
    return [*_ruled(columns), ""]


def _within(row: ErrorRow, cell: ErrorCell) -> str:
    """A flagged measurement counts in no share of bands."""
    return FLAGGED if row.state == "flagged" else _HELD[cell.in_band]


def _whole(case: CaseErrors) -> str:
    columns = [
        Column("", case.modes, "", "left"),
        Column("component", case.mape, "MAPE", "point"),
        Column("worst component", case.worst, "", "left"),
        Column("not compared", case.excluded, "", "left"),
    ]
    if case.banded_mode:
        columns.append(Column("within", case.in_bands, BAND, "left"))
    return table(columns)


def _reference(row: ErrorRow) -> str:
    """Why nothing was measured is in the note beside it."""
    return NO_FIGURE if row.state == "not-covered" else row.reference


def _ruled(columns: Sequence[Column]) -> list[str]:
    """A table with a rule above its last line."""
    head, lines = table_lines(columns)
    return [*head, *lines[:-1], head[-1], lines[-1]]


def _over_pairs(columns: Sequence[Column], modes: Sequence[str]) -> str:
    """A line of the modes' names, each above its pair of columns, which start with the third."""
    widths = [
        max(len(text) for text in (*table_lines([column])[0][:-1], *table_lines([column])[1])) for column in columns
    ]
    line = " " * (widths[0] + widths[1] + _GAP)
    for index, mode in enumerate(modes):
        first, second = widths[2 + 2 * index : 4 + 2 * index]
        line += " " * _GAP + mode.rjust(first + _GAP + second)
    return line
