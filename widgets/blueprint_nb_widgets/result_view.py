"""The tabs, and the one chart and one table that all share but those with a view of their own.

Only the tab in front is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets
from altair.utils import schemapi

from blueprint_nb import Estimate

from .chart_box import ChartBox
from .drawing import DEFAULT_WIDTH, Look, Tab
from .width_probe import WidthProbe

_PHASES = (("Prefill", "prefill"), ("Last decode step", "decode"))


class ResultView(ipywidgets.VBox):
    """Calls `turned` when another tab or phase comes to the front, or the place for charts gets another width."""

    def __init__(self, tabs: Mapping[str, Tab], front: str, turned: Callable[[], None]) -> None:
        self._tabs = tabs
        self._turned = turned
        self.titles = ipywidgets.ToggleButtons(options=tuple(self._tabs), value=front)
        self.titles.add_class("bp-tabs")
        self.phases = ipywidgets.ToggleButtons(options=_PHASES, value="decode")
        self.phases.add_class("bp-phases")
        self.chart_box = ChartBox()
        self.table = ipywidgets.HTML()
        self.table.add_class("bp-table-box")
        bar = ipywidgets.HBox((self.titles, self.phases))
        bar.add_class("bp-tab-bar")
        self.probe = WidthProbe()
        own = (tab.view for tab in self._tabs.values() if tab.view is not None)
        self._views = ipywidgets.VBox((self.chart_box, self.table, *own))
        self._views.add_class("bp-views")
        super().__init__((bar, self.probe, self._views))
        self.add_class("bp-result")
        self._show_front()
        for buttons in (self.titles, self.phases):
            buttons.observe(self._turn, "value")
        self.probe.observe(self._turn, "width")

    @property
    def tab(self) -> Tab:
        """The tab in front."""
        return self._tabs[self.titles.value]

    def draw(self, estimate: Estimate, pinned: Estimate | None) -> None:
        """Draws the tab in front in place of what was there."""
        look = Look(pinned=pinned, phase=self.phases.value, width=self.probe.width or DEFAULT_WIDTH)
        # A chart is checked whole when it is shown; checking each part as it is made takes as long again.
        with schemapi.debug_mode(False):
            drawing = self.tab.draw(estimate, look)
        if drawing is not None:
            self.chart_box.show(drawing.chart)
            self.table.value = drawing.table

    def _turn(self, change: Any) -> None:
        self._show_front()
        self._turned()

    def _show_front(self) -> None:
        self.phases.layout.visibility = "visible" if self.tab.has_phases else "hidden"
        for title in self._tabs:
            change = self._views.add_class if title == self.tab.title else self._views.remove_class
            change(f"bp-on-{title.lower()}")
