"""Tables of the report as rows of text. Components have their own module, for the explorer shows them too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from ..analysis import Estimate, RequestInputs
from ..analysis.mapping_faults import MappingFault, mapping_faults
from ..units import GIB, format_count, format_gib, format_seconds, three_digits
from .thinning import kept_indices

_SHOWN_STEPS: Final = 12
_SHOWN_DROPS: Final = 3
_PARTS: Final = (
    ("Weights", "weights_bytes"),
    ("KV cache", "kv_cache_bytes"),
    ("Workspace", "workspace_bytes"),
    ("Buffers", "buffers_bytes"),
)

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepRow:
    """One decode step, in words."""

    context: str
    seconds: str
    stack_seconds: str
    rate: str
    digest: str
    note: str
    """What is special about it; empty for most."""


def step_rows(estimate: Estimate) -> list[StepRow]:
    """Up to a dozen decode steps: both ends, where an efficiency curve steps, evenly the rest."""
    contexts = estimate.decode_contexts
    drops = estimate.latency_drops
    around = [int(context - contexts[0]) + shift for context in drops[:_SHOWN_DROPS] for shift in (-1, 0)]
    frame = estimate.decode[kept_indices(len(contexts), _SHOWN_STEPS, around)]
    batch = estimate.inputs.request.batch_size
    return [
        StepRow(
            context=format_count(row["context_tokens"]),
            seconds=format_seconds(row["seconds"]),
            stack_seconds=format_seconds(row["stack_seconds"]),
            rate=three_digits(batch / row["seconds"]),
            digest=row["plan_digest"][:12],
            note="▼ efficiency step" if row["context_tokens"] in drops else "",
        )
        for row in frame.iter_rows(named=True)
    ]


def memory_rows(estimate: Estimate) -> tuple[Row, list[Row]]:
    """Head and rows: GiB of each part at the prefill and at the last decode step, against usable and capacity."""
    frame = estimate.memory_by_context
    points = frame[[0] if len(frame) == 1 else [0, len(frame) - 1]].to_dicts()
    head = tuple(_point_name(point) for point in points)
    rows = [(label, *(_gib(point[column]) for point in points)) for label, column in _PARTS]
    totals = [sum(point[column] for _, column in _PARTS) for point in points]
    usable = estimate.memory.usable_bytes
    rows.append(("All parts", *(_gib(total) for total in totals)))
    rows.append(("Usable", *(_gib(usable) for _ in points)))
    rows.append(("Capacity", *(_gib(estimate.memory.capacity_bytes) for _ in points)))
    rows.append(("Left, or short", *(_margin(usable - total) for total in totals)))
    return head, rows


def _point_name(point: dict[str, Any]) -> str:
    context = format_count(point["context_tokens"])
    return f"Prefill of {context}" if point["phase"] == "prefill" else f"Last decode step, context {context}"


def _gib(count: int) -> str:
    """Two decimals, so that a column lines up on its points."""
    return "< 0.01" if 0 < count < GIB / 200 else f"{count / GIB:,.2f}"


def _margin(count: int) -> str:
    return f"✓ {_gib(count)} left" if count >= 0 else f"✕ {_gib(-count)} short"


@dataclass(frozen=True, slots=True)
class MappingRow:
    """One legal mapping, in words."""

    tensor_parallel: str
    pipeline_parallel: str
    devices: str
    fits: bool
    fit: str
    memory: str
    prefill: str
    decode: str
    rate: str
    device_rate: str
    sequence_rate: str
    is_chosen: bool


def mapping_rows(table: pl.DataFrame, inputs: RequestInputs) -> list[MappingRow]:
    """Rows of `analysis.mapping_table` in words."""
    usable = inputs.system.memory.usable_bytes
    chosen = (inputs.mapping.tensor_parallel, inputs.mapping.pipeline_parallel)
    return [
        MappingRow(
            tensor_parallel=format_count(row["tensor_parallel"]),
            pipeline_parallel=format_count(row["pipeline_parallel"]),
            devices=format_count(row["devices"]),
            fits=row["fits"],
            fit="✓ fits" if row["fits"] else f"✕ {format_gib(row['total_bytes'] - usable)} short",
            memory=_gib(row["total_bytes"]),
            prefill=format_seconds(row["prefill_seconds"]),
            decode="none" if row["decode_step_seconds"] is None else format_seconds(row["decode_step_seconds"]),
            rate=three_digits(row["tokens_per_second"]),
            device_rate=three_digits(row["tokens_per_second_per_device"]),
            sequence_rate=three_digits(row["tokens_per_second_per_sequence"]),
            is_chosen=(row["tensor_parallel"], row["pipeline_parallel"]) == chosen,
        )
        for row in table.iter_rows(named=True)
    ]


def illegal_mappings(inputs: RequestInputs) -> list[str]:
    """ "TP 3, 5–7: must divide the 32 attention heads"."""
    return [f"{fault.axis} {_ranges(fault)}: {fault.rule}" for fault in mapping_faults(inputs)]


def _ranges(fault: MappingFault) -> str:
    runs: list[list[int]] = []
    for size in fault.sizes:
        if runs and size == runs[-1][-1] + 1:
            runs[-1].append(size)
        else:
            runs.append([size])
    return ", ".join(_run(run) for run in runs)


def _run(run: list[int]) -> str:
    if len(run) < 3:
        return ", ".join(str(size) for size in run)
    return f"{run[0]}–{run[-1]}"
