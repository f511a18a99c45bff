"""What a device holds, part by part, and whether it fits.

Each stage's buffers add up: weights, KV cache, workspace (what is always there, and the largest of what comes and
goes) and boundary buffers. The device that matters is one of the fullest stage.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from ..ir import BoundTemplate
from ..system import DeviceMemory
from ..workload import InferencePhase, TransformerInferenceRequestSpec
from .points import phase_statistics

_HELD: Final = ("weights", "kv_cache", "workspace", "transient", "boundary")


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """Bytes on one device: ints for one step, int64 arrays over many."""

    weights_bytes: Any
    kv_cache_bytes: Any
    workspace_bytes: Any
    buffers_bytes: Any

    @property
    def total_bytes(self) -> Any:
        """All parts together."""
        return self.weights_bytes + self.kv_cache_bytes + self.workspace_bytes + self.buffers_bytes


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """The fullest device at the fullest point of a request."""

    fits: bool
    """Whether total_bytes is within usable_bytes."""
    total_bytes: int
    capacity_bytes: int
    usable_bytes: int
    """Capacity × the share that serving may take."""
    weights_bytes: int
    kv_cache_bytes: int
    workspace_bytes: int
    buffers_bytes: int
    peak_phase: str
    peak_context_tokens: int


PARTS: Final = tuple(part.name for part in fields(MemoryParts))
"""The parts, in the order in which they are shown."""


def fullest_stage(template: BoundTemplate, statistics: dict[str, Any]) -> MemoryParts:
    """Parts of the stage with the largest total at each step; the earlier stage where two are equal."""
    held = template.buffer_bytes(statistics)
    stages: dict[str, dict[str, Any]] = {}
    for buffer, size in zip(template.buffers, held, strict=True):
        parts = stages.setdefault(buffer.stage, dict.fromkeys(_HELD, 0))
        if buffer.transient:
            parts["transient"] = np.maximum(parts["transient"], size)
        else:
            parts[buffer.kind] = parts[buffer.kind] + size
    return _fullest([_parts(parts) for parts in stages.values()])


def peak_memory(
    template: BoundTemplate, memory: DeviceMemory, request: TransformerInferenceRequestSpec
) -> MemoryReport:
    """The fullest point of a request: its prefill or its last decode step, for no part shrinks as context grows."""
    points = [(InferencePhase.PREFILL, request.prompt_tokens)]
    if request.generated_tokens > 1:
        points.append((InferencePhase.DECODE, request.last_context_tokens))
    reports = [
        memory_report(memory, step_memory(template, phase, request.batch_size, context), str(phase), context)
        for phase, context in points
    ]
    return max(reports, key=lambda report: report.total_bytes)


def step_memory(template: BoundTemplate, phase: InferencePhase, batch_size: Any, context_tokens: Any) -> MemoryParts:
    """Parts on the fullest device at each (batch, context): int64 arrays of any shapes that broadcast, or ints."""
    batch, context = np.asarray(batch_size, dtype=np.int64), np.asarray(context_tokens, dtype=np.int64)
    return fullest_stage(template, phase_statistics(template, phase, batch, context))


def memory_report(memory: DeviceMemory, parts: MemoryParts, phase: str, context_tokens: int) -> MemoryReport:
    """The report of one step's parts."""
    total = int(parts.total_bytes)
    return MemoryReport(
        fits=total <= memory.usable_bytes,
        total_bytes=total,
        capacity_bytes=memory.capacity_bytes,
        usable_bytes=memory.usable_bytes,
        weights_bytes=int(parts.weights_bytes),
        kv_cache_bytes=int(parts.kv_cache_bytes),
        workspace_bytes=int(parts.workspace_bytes),
        buffers_bytes=int(parts.buffers_bytes),
        peak_phase=phase,
        peak_context_tokens=context_tokens,
    )


def _parts(parts: dict[str, Any]) -> MemoryParts:
    workspace = parts["workspace"] + parts["transient"]
    return MemoryParts(parts["weights"], parts["kv_cache"], workspace, parts["boundary"])


def _fullest(stages: list[MemoryParts]) -> MemoryParts:
    fullest = stages[0]
    for stage in stages[1:]:
        more = stage.total_bytes > fullest.total_bytes
        fullest = MemoryParts(*(np.where(more, getattr(stage, name), getattr(fullest, name)) for name in PARTS))
    return fullest
