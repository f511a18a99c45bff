"""The explorer: controls at the left, what they mean at the right, the verdict above all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ipywidgets

from blueprint_nb import Estimate, SystemProfile, TransformerModelSpec, load_model, load_system
from blueprint_nb.analysis import VidurProfileBaseline
from blueprint_nb.catalog import model_names, system_names
from blueprint_nb.errors import one_of

from .baselines import Baselines
from .components_tab import ComponentsTab
from .debounce import Debounce
from .error_line import ErrorLine
from .error_tab import ErrorTab
from .footer import footer_html
from .latency_tab import LatencyTab
from .look import style_sheet
from .mapping_tab import MappingTab
from .memory_tab import MemoryTab
from .options import options_for
from .panel import Panel
from .pin import Pin
from .report_button import ReportButton
from .result_view import ResultView
from .settle import settle
from .shelf import Shelf
from .state import ExplorerState
from .verdict_bar import verdict_html


class Explorer(ipywidgets.VBox):
    """Shows itself as the last expression of a cell.

    Every argument but the last is a start value. `mode` and `calibration` None take each system's default, also those
    of systems that are chosen later; others are kept wherever a system has them. `baselines` are measured profiles for
    the tab Error, which takes the first that fits model and system; None is the slice that ships. Raises as
    `blueprint_nb.estimate` where the start is not legal; later on, controls offer what is legal only.
    """

    def __init__(
        self,
        *,
        model: str | Path | TransformerModelSpec = "llama-3.1-8b",
        system: str | Path | SystemProfile = "h100_80g_sxm",
        tensor_parallel: int = 1,
        pipeline_parallel: int = 1,
        batch_size: int = 1,
        prompt_tokens: int = 1024,
        generated_tokens: int = 128,
        datatype: str = "float16",
        mode: str | None = None,
        calibration: str | None = None,
        tab: str = "Latency",
        baselines: Sequence[VidurProfileBaseline] | None = None,
    ) -> None:
        self._baselines = Baselines(baselines)
        self._models = Shelf[TransformerModelSpec](model_names(), load_model, model)
        self._systems = Shelf[SystemProfile](system_names(), load_system, system)
        state = ExplorerState(
            model=self._models.given,
            system=self._systems.given,
            tensor_parallel=tensor_parallel,
            pipeline_parallel=pipeline_parallel,
            batch_size=batch_size,
            prompt_tokens=prompt_tokens,
            generated_tokens=generated_tokens,
            datatype=datatype,
            mode=options_for(self._models.given, self._systems.given).mode.default if mode is None else mode,
            calibration=calibration,
        )
        self._estimate = state.estimate()
        self._wanted: dict[str, str | None] = {"mode": mode, "calibration": calibration}
        self._settled = settle(state)
        self._estimated = state if self._settled.notes else self.state
        self._recompute = Debounce(self._compute)
        super().__init__(self._make_parts(tab))
        self.add_class("bp-explorer")
        self.panel.show(self._settled)
        self._draw()

    @property
    def state(self) -> ExplorerState:
        """What the controls say."""
        return self._settled.state

    @property
    def estimate(self) -> Estimate:
        """The last good result, which is what is shown."""
        return self._estimate

    def __repr__(self) -> str:
        return f"Explorer: {self.state.model.name} on {self.state.system.name}"

    def _make_parts(self, tab: str) -> tuple[Any, ...]:
        self.errors = ErrorLine()
        self.panel = Panel(self._moved, self._models.names, self._systems.names)
        views = (LatencyTab(), MemoryTab(), ComponentsTab(), MappingTab(), ErrorTab(self._baselines))
        tabs = {one.title: one for one in views}
        self.result = ResultView(tabs, one_of("tab", tab, tabs), self._turned)
        self.pin = Pin(lambda: self._estimate, self._turned)
        self.report = ReportButton(lambda: self._estimate, self.errors)
        self.verdict = ipywidgets.HTML()
        self.footer = ipywidgets.HTML()
        buttons = ipywidgets.HBox((self.pin, self.report))
        buttons.add_class("bp-buttons")
        left = ipywidgets.VBox((self.panel, buttons))
        left.add_class("bp-left")
        body = ipywidgets.Box((left, self.result))
        body.add_class("bp-body")
        return (style_sheet(), self.verdict, body, self.pin.line, self.report.line, self.errors, self.footer)

    def _moved(self, field: str, value: Any) -> None:
        """A control moved: what else is legal shows at once, the result soon."""
        with self.errors.catching():
            self._settled = settle(self._changed(field, value), field)
            self.add_class("bp-stale")
            self._recompute()
        self.panel.show(self._settled)

    def _changed(self, field: str, value: Any) -> ExplorerState:
        if field == "model":
            value = self._models.load(value)
        elif field == "system":
            value = self._systems.load(value)
        elif field in self._wanted:
            self._wanted[field] = value
        # A mode or calibration that one system could not give comes back with the next that can.
        state = self.state.with_value(field, value)
        for wanted_field, wanted in self._wanted.items():
            state = state.with_value(wanted_field, wanted)
        return state

    def _compute(self) -> None:
        """Where this fails, the last good result stays, greyed, and the error stands below it."""
        with self.errors.catching():
            self._estimate, self._estimated = self.state.estimate(), self.state
            self._show()

    def _turned(self) -> None:
        """Another tab, phase, pin or width: the result is the same."""
        with self.errors.catching():
            self._show()

    def _show(self) -> None:
        self._draw()
        if self._estimated is self.state:
            self.errors.clear()
            self.remove_class("bp-stale")

    def _draw(self) -> None:
        self.result.draw(self._estimate, self.pin.beside(self._estimate))
        self.verdict.value = verdict_html(self._estimate.verdict)
        self.footer.value = footer_html(self._estimate)
        self.pin.compare(self._estimate)
