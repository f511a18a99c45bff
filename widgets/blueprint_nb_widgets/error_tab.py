"""The steps of a request beside measured kernels, where a profile of its model on its system is at hand."""

from __future__ import annotations

from blueprint_nb import Estimate
from blueprint_nb.validation import error_report

from .baselines import Baselines
from .drawing import Look, Tab
from .error_table import VidurErrorTable

_HINT = "Explorer(baselines=[…]) takes profiles of your own: the notebook 02_vidur_error shows how to read them."


class ErrorTab(Tab):
    """Asks the oracle only while it is in front, and once for an estimate."""

    title = "Error"
    view: VidurErrorTable

    def __init__(self, baselines: Baselines) -> None:
        self.view = VidurErrorTable()
        self._baselines = baselines
        self._estimate: Estimate | None = None

    def draw(self, estimate: Estimate, look: Look) -> None:
        """On a widget of its own, which lays itself out."""
        if estimate is self._estimate:
            return
        baseline = self._baselines.nearest(estimate.inputs.model, estimate.inputs.system)
        self.view.probe.width = self.view.probe.width or look.width
        self.view.show(error_report(estimate, baseline), _HINT)
        self._estimate = estimate
