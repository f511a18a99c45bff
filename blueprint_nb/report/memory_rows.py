"""Memory of the fullest device as rows of text."""

from __future__ import annotations

from typing import Any, Final

from ..analysis import Estimate
from ..units import GIB, format_count

MEMORY_PARTS: Final = {
    "weights": "weights_bytes",
    "KV cache": "kv_cache_bytes",
    "workspace": "workspace_bytes",
    "buffers": "buffers_bytes",
}
"""Parts of memory, as they are called, to their columns in `Estimate.memory_by_context`."""

ALL_PARTS: Final = "All parts"

Row = tuple[str, ...]


def memory_rows(estimate: Estimate) -> tuple[Row, list[Row]]:
    """Head and rows: GiB of each part at the prefill and at the last decode step, against usable and capacity."""
    frame = estimate.memory_by_context
    points = frame[[0] if len(frame) == 1 else [0, len(frame) - 1]].to_dicts()
    totals = [sum(point[column] for column in MEMORY_PARTS.values()) for point in points]
    usable, capacity = estimate.memory.usable_bytes, estimate.memory.capacity_bytes
    rows: list[Row] = [
        *(
            (part[0].upper() + part[1:], *(gib(point[column]) for point in points))
            for part, column in MEMORY_PARTS.items()
        ),
        (ALL_PARTS, *map(gib, totals)),
        ("Usable", *(gib(usable) for _ in points)),
        ("Capacity", *(gib(capacity) for _ in points)),
        ("Left, or short", *(_margin(usable - total) for total in totals)),
    ]
    return tuple(map(_point_name, points)), rows


def gib(count: int) -> str:
    """GiB without their unit, to two decimals, so that a column lines up on its points."""
    return "< 0.01" if 0 < count < GIB / 200 else f"{count / GIB:,.2f}"


def _point_name(point: dict[str, Any]) -> str:
    context = format_count(point["context_tokens"])
    return f"Prefill of {context}" if point["phase"] == "prefill" else f"Last decode step, context {context}"


def _margin(count: int) -> str:
    return f"✓ {gib(count)} left" if count >= 0 else f"✕ {gib(-count)} short"
