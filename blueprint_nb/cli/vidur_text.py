"""An experiment as text: means first, then a table for each case, cut where it would flood a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..report.error_rows import CaseErrors, ErrorRow, case_errors, case_names
from ..report.error_sentences import report_sentences
from ..report.error_words import COMPONENT_MAPE, EXCLUDED, FLAGGED, WORST, cases_text, in_line
from ..validation import VidurExperimentReport
from .tables import Column, table, table_lines, wrapped

MOST_LISTED: Final = 40
"""Cases in the list of all."""

MOST_TABLES: Final = 4
"""Cases whose components are shown."""

_LABELS: Final = tuple(in_line(name) for name in (COMPONENT_MAPE, WORST, EXCLUDED))


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
        """What stands beside a row: flagged [2]."""
        if not row.words:
            return ""
        number = self._numbers.setdefault(row.words, len(self._numbers) + 1)
        return f"{FLAGGED} [{number}]" if row.state == "flagged" else f"[{number}]"

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
    for index, mode in enumerate(cases[0].modes):
        columns.append(Column(mode, [case.subtotal.cells[index].error for case in cases], "subtotal", "point"))
        columns.append(Column("", [case.mape[index] for case in cases], "MAPE", "point"))
    return table(columns)


def _case_text(case: CaseErrors, notes: _Notes) -> str:
    sentences = [wrapped(sentence) for sentence in case.sentences]
    says_all = not case.is_compared and len({row.words for row in case.rows if row.in_block}) == 1
    tables = [] if says_all else [*_rows(case, notes), "", _whole(case), ""]
    return "\n".join([case.title, *tables, *sentences])


def _rows(case: CaseErrors, notes: _Notes) -> list[str]:
    """A line for each component, and under a rule one for the subtotal."""
    rows = [*case.rows, case.subtotal]
    columns = [
        Column("component", [row.component for row in rows], "", "left"),
        Column("measured", [row.reference for row in rows]),
    ]
    for index, mode in enumerate(case.modes):
        columns.append(Column(mode, [row.cells[index].estimate for row in rows], "estimate"))
        columns.append(Column("", [row.cells[index].error for row in rows], "error", "point"))
    columns.append(Column("", [notes.mark(row) for row in rows], "", "left"))
    head, lines = table_lines(columns)
    return [*head, *lines[:-1], head[-1], lines[-1]]


def _whole(case: CaseErrors) -> str:
    columns = [Column("", _LABELS, "", "left")]
    for mode, *texts in zip(case.modes, case.mape, case.worst, case.excluded, strict=True):
        columns.append(Column(mode, texts, "", "left"))
    return table(columns)
