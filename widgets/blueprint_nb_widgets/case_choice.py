"""The list of an experiment's cases, which keeps what was chosen while reports come and go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from blueprint_nb.report.error_rows import case_names
from blueprint_nb.validation import VidurExperimentReport

_FIRST_PHASE = "decode"


class CaseChoice(ipywidgets.Dropdown):
    """Calls `chosen` when the user takes another case, not when a report is offered."""

    options: tuple[str, ...]
    value: str

    def __init__(self, chosen: Callable[[], None]) -> None:
        super().__init__(description="Case")
        self.add_class("bp-cases")
        self._chosen = chosen
        self._phases: dict[str, str] = {}
        self._wanted = self._wanted_phase = ""
        self._offering = False
        self.observe(self._choose, "value")

    @property
    def name(self) -> str:
        """The case to show."""
        return self.value

    def offer(self, report: VidurExperimentReport) -> None:
        """The cases of `report`: the one that the user took if it has that, else the nearest to it."""
        self._phases = {frozen.case.name: str(frozen.case.phase) for frozen in report.frozen.cases}
        names = case_names(report)
        name = self._wanted if self._wanted in names else _nearest(report, self._wanted_phase)
        self._offering = True
        try:
            with self.hold_sync():
                if self.options != names:
                    self.options = names
                self.value = name
        finally:
            self._offering = False

    def _choose(self, change: Any) -> None:
        if not self._offering:
            self._wanted, self._wanted_phase = change["new"], self._phases[change["new"]]
            self._chosen()


def _nearest(report: VidurExperimentReport, phase: str) -> str:
    """The first case of `phase` that compares anything; where none was asked for, of decode, else of any."""
    names = case_names(report)
    compared = {one.frozen.case.name for one in report.comparisons if one.matched}
    of_phase = [one.case.name for one in report.frozen.cases if one.case.phase == (phase or _FIRST_PHASE)]
    orders = (of_phase,) if phase and of_phase else (of_phase, names)
    found = (name for order in orders for name in order if name in compared)
    return next(found, (of_phase or names)[0])
