"""Mappings as rows of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from ..analysis import RequestInputs
from ..analysis.rates import rate_text
from ..units import format_count, format_gib, format_seconds
from .memory_rows import gib

MOST_DEVICES: Final = 64
"""Of a mapping that report and explorer show."""


@dataclass(frozen=True, slots=True)
class MappingRow:
    """One legal mapping, in words."""

    tensor_parallel: str
    pipeline_parallel: str
    devices: str
    fits: bool
    fit: str
    memory: str
    """GiB."""
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
            memory=gib(row["total_bytes"]),
            prefill=format_seconds(row["prefill_seconds"]),
            decode="none" if row["decode_step_seconds"] is None else format_seconds(row["decode_step_seconds"]),
            rate=rate_text(row["tokens_per_second"]),
            device_rate=rate_text(row["tokens_per_second_per_device"]),
            sequence_rate=rate_text(row["tokens_per_second_per_sequence"]),
            is_chosen=(row["tensor_parallel"], row["pipeline_parallel"]) == chosen,
        )
        for row in table.iter_rows(named=True)
    ]
