"""How far an experiment's estimates are from measured kernels: one case as a table, all of them as a chart."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from blueprint_nb.errors import InvalidInputError, shown
from blueprint_nb.report.error_lines import error_lines
from blueprint_nb.report.error_overview import nothing_sentences
from blueprint_nb.report.error_rows import case_errors, case_names
from blueprint_nb.report.error_sentences import report_sentences
from blueprint_nb.report.error_words import cases_text
from blueprint_nb.validation import VidurExperimentReport

from .case_choice import CaseChoice
from .chart_box import ChartBox
from .drawing import DEFAULT_WIDTH, Look
from .error_line import ErrorLine
from .error_markup import errors_html, sentences_html
from .look import style_sheet
from .width_probe import WidthProbe

_AROUND = 190


class VidurErrorTable(ipywidgets.VBox):
    """Shows itself as the last expression of a cell. Another `report` set later replaces the first in place."""

    def __init__(self, report: VidurExperimentReport | None = None) -> None:
        self._report: VidurExperimentReport | None = None
        self._hint = ""
        self.cases = CaseChoice(lambda: self._turned(self._draw_case))
        self.table = ipywidgets.HTML()
        self.chart_box = ChartBox()
        self.provenance = ipywidgets.HTML()
        self.errors = ErrorLine()
        self.probe = WidthProbe()
        self.probe.observe(lambda change: self._turned(self._draw_chart), "width")
        visible = (self.cases, self.table, self.chart_box, self.provenance, self.errors)
        super().__init__((style_sheet(), self.probe, *visible))
        self.add_class("bp-error-table")
        if report is not None:
            self.report = report

    @property
    def report(self) -> VidurExperimentReport | None:
        """What is shown. Setting it raises `InvalidInputError` for anything but a report."""
        return self._report

    @report.setter
    def report(self, report: VidurExperimentReport) -> None:
        self.show(report)

    def show(self, report: VidurExperimentReport, hint: str = "") -> None:
        """Shows `report`; `hint` says what to do where it compares nothing at all."""
        if not isinstance(report, VidurExperimentReport):
            raise InvalidInputError("report", got=shown(report), rule="must be a VidurExperimentReport")
        self._report, self._hint = report, hint
        self.cases.offer(report)
        self._draw_case(report)
        self._draw_chart(report)
        self.errors.clear()

    def __repr__(self) -> str:
        if self._report is None:
            return "VidurErrorTable: no report"
        count, measured = len(case_names(self._report)), self._report.baseline
        return f"VidurErrorTable: {cases_text(count)} against {measured.model_name} on {measured.hardware_name}"

    def _turned(self, draw: Callable[[VidurExperimentReport], None]) -> None:
        """Another case or another width: the report is the same."""
        if self._report is not None:
            self.errors.clear()
            with self.errors.catching():
                draw(self._report)

    def _draw_case(self, report: VidurExperimentReport) -> None:
        nothing = nothing_sentences(report)
        self.cases.layout.display = "none" if nothing else None
        if nothing:
            self.table.value = sentences_html("nothing", [*nothing, self._hint] if self._hint else nothing)
            self.provenance.value = ""
        else:
            self.table.value = errors_html(case_errors(report, self.cases.name))
            self.provenance.value = sentences_html("provenance", report_sentences(report))

    def _draw_chart(self, report: VidurExperimentReport) -> None:
        look = Look(width=self.probe.width or DEFAULT_WIDTH)
        self.chart_box.show(error_lines(report, width=look.plot_width(_AROUND)))
