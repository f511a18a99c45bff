"""Components with seconds, share, bound and why, of the prefill or of the last decode step."""

from __future__ import annotations

from blueprint_nb import Estimate
from blueprint_nb.report.charts import component_chart

from .component_rows import components_html
from .drawing import Drawing, Look, Tab

_AROUND = 198


class ComponentsTab(Tab):
    """Every component of one step."""

    title = "Components"
    has_phases = True

    def draw(self, estimate: Estimate, look: Look) -> Drawing:
        """A request of one token has no decode step, so its prefill is shown instead."""
        phase = look.phase if estimate.has_decode else "prefill"
        chart = component_chart(estimate, phase=phase, width=look.plot_width(_AROUND))
        return Drawing(chart, components_html(estimate, phase))
