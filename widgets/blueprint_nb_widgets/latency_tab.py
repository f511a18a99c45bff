"""Decode latency by visible context, and what takes the time of the last step."""

from __future__ import annotations

from blueprint_nb import Estimate
from blueprint_nb.report.charts import decode_latency_chart

from .component_rows import components_html
from .drawing import CHART_HEIGHT, Drawing, Look, Tab
from .steady_axis import SteadyAxis

_AROUND = 165
_COSTLIEST = 6


class LatencyTab(Tab):
    """The line of decode steps, with the pinned one behind it."""

    title = "Latency"

    def __init__(self) -> None:
        self._axis = SteadyAxis()

    def draw(self, estimate: Estimate, look: Look) -> Drawing:
        """Where the only token comes from the prefill, its components stand alone."""
        shown = [one for one in (estimate, look.pinned) if one is not None and one.has_decode]
        largest = max((_largest(one) for one in shown), default=0.0)
        chart = decode_latency_chart(
            estimate,
            pinned=look.pinned,
            width=look.plot_width(_AROUND),
            height=CHART_HEIGHT,
            y_domain=self._axis.domain(largest) if shown else None,
        )
        phase = "decode" if estimate.has_decode else "prefill"
        return Drawing(chart, components_html(estimate, phase, _COSTLIEST))


def _largest(estimate: Estimate) -> float:
    """The longest step, or the upper end of its band."""
    band = estimate.decode_band
    return float((estimate.decode_seconds if band is None else band.high_seconds).max())
