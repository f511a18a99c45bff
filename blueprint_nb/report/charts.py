"""Every chart of the report and of the explorer. Needs the extra `notebook`: import it where a chart is drawn."""

from .component_chart import component_chart, component_slider_chart
from .decode_chart import decode_latency_chart
from .error_chart import error_bars
from .error_lines import error_lines
from .mapping_chart import METRICS, mapping_chart
from .memory_chart import memory_chart

__all__ = [
    "METRICS",
    "component_chart",
    "component_slider_chart",
    "decode_latency_chart",
    "error_bars",
    "error_lines",
    "mapping_chart",
    "memory_chart",
]
