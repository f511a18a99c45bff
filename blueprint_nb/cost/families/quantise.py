"""Quantising activations ahead of an 8-bit GEMM: a pass over the rows of m × k, each of which gets a scale.

A CTA works on a row, 2,048 elements at a time; rows wait for each other; 16-bit elements are read, short ones written:

    serial = max(m / compute units, 1) · (row + chunk · ⌈k / 2048⌉)
    memory = m · k · (2 + element) / (bandwidth · fraction)
    time   = (serial² + memory²)^½

Its launch is part of the GEMM's floor, which nothing tells it from. Source: vLLM's quantisation of activations by
token, and where its measured times step. Left out: whole waves of rows, which do not show, and what a cache serves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .family import Parameter
from .machine import Machine

_CHUNK: Final = 2048
"""Elements of a row that a CTA takes at once."""

_ACTIVATION_BYTES: Final = 2

QUANTISE_PARAMETERS: Final = (
    Parameter("quantise_row_seconds", 3e-7, 1e-8, 5e-6, "latency of a row that is quantised"),
    Parameter("quantise_chunk_seconds", 5e-7, 1e-8, 5e-6, "each chunk of such a row, one after the other"),
    Parameter("quantise_bandwidth_fraction", 0.7, 0.05, 1.1, "of the memory's bandwidth, while quantising"),
)


@dataclass(frozen=True, slots=True)
class Quantise:
    """Rows to quantise: arrays of shape (rows,)."""

    rows_per_unit: Any
    """At least 1: a row takes its time however few there are."""
    chunks: Any
    stream_seconds: Any
    """Of all bytes at the bandwidth of the memory."""

    @classmethod
    def of(cls, m: Any, k: Any, machine: Machine) -> Quantise:
        """Of m rows of k elements, float64 arrays of shape (rows,)."""
        moved = m * k * (_ACTIVATION_BYTES + machine.element_bytes)
        rows_per_unit = np.maximum(m / machine.compute_units, 1.0)
        return cls(rows_per_unit, np.ceil(k / _CHUNK), moved / machine.bytes_per_second)

    def seconds(self, values: Mapping[str, float]) -> Any:
        """Of the pass, but for its launch."""
        row = values["quantise_row_seconds"] + values["quantise_chunk_seconds"] * self.chunks
        return np.hypot(self.rows_per_unit * row, self.stream_seconds / values["quantise_bandwidth_fraction"])
