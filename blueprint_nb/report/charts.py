"""Every chart of the report and of the explorer. Needs the extra `notebook`: import it where a chart is drawn."""

from .component_chart import component_chart, component_slider_chart
from .component_table import ComponentRow, component_table
from .decode_chart import decode_latency_chart
from .mapping_chart import METRICS, mapping_chart
from .memory_chart import memory_chart
from .theme import COMPUTE, FLOOR, MEMORY, NETWORK, PART_COLOURS, TERM_COLOURS, TROUBLE

__all__ = [
    "COMPUTE",
    "FLOOR",
    "MEMORY",
    "METRICS",
    "NETWORK",
    "PART_COLOURS",
    "TERM_COLOURS",
    "TROUBLE",
    "ComponentRow",
    "component_chart",
    "component_slider_chart",
    "component_table",
    "decode_latency_chart",
    "mapping_chart",
    "memory_chart",
]
