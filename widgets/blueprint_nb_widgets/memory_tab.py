"""Memory of the fullest device, part by part, against what it may hold."""

from __future__ import annotations

from blueprint_nb import Estimate
from blueprint_nb.report.charts import memory_chart
from blueprint_nb.report.memory_rows import MEMORY_PARTS, memory_rows

from .drawing import CHART_HEIGHT, Drawing, Look, Tab
from .markup import table

_AROUND = 195


class MemoryTab(Tab):
    """Parts over the request, and at its ends."""

    title = "Memory"

    def draw(self, estimate: Estimate, look: Look) -> Drawing:
        """The pin has no ghost here: stacked parts of two estimates can't be told apart."""
        chart = memory_chart(estimate, width=look.plot_width(_AROUND), height=CHART_HEIGHT)
        points, rows = memory_rows(estimate)
        return Drawing(chart, table("GiB on the fullest device", ("part", *points), rows, marked_row=len(MEMORY_PARTS)))
