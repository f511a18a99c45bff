"""Memory of the fullest device, part by part, against what it may hold."""

from __future__ import annotations

from blueprint_nb import Estimate
from blueprint_nb.report.charts import memory_chart
from blueprint_nb.units import format_bytes, format_count, format_percent

from .drawing import CHART_HEIGHT, Drawing, Look, Tab
from .markup import table

_PARTS = {
    "weights": "weights_bytes",
    "KV cache": "kv_cache_bytes",
    "workspace": "workspace_bytes",
    "buffers": "buffers_bytes",
}

_AROUND = 195


class MemoryTab(Tab):
    """Parts over the request, and at its fullest point."""

    title = "Memory"

    def draw(self, estimate: Estimate, look: Look) -> Drawing:
        """The pin has no ghost here: stacked parts of two estimates can't be told apart."""
        chart = memory_chart(estimate, width=look.plot_width(_AROUND), height=CHART_HEIGHT)
        return Drawing(chart, _parts_html(estimate))


def _parts_html(estimate: Estimate) -> str:
    memory = estimate.memory
    sizes = {part: getattr(memory, field) for part, field in _PARTS.items()}
    sizes |= {"all parts": memory.total_bytes, "usable": memory.usable_bytes, "capacity": memory.capacity_bytes}
    rows = [(part, format_bytes(size), format_percent(size / memory.usable_bytes)) for part, size in sizes.items()]
    point = f"{memory.peak_phase} at context {format_count(memory.peak_context_tokens)}"
    caption = f"Fullest device at the fullest point: {point}"
    return table(caption, ("part", "memory", "of usable"), rows, marked_row=len(_PARTS))
