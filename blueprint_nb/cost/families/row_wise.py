"""Kernels that take one row after another: norms, activations, RoPE, adds, the KV save.

A CTA works on a row of `width` elements, a chunk of 1,024 (LayerNorm: 512) at a time; some rows run at once on each
unit, the rest wait; meanwhile the bytes have to move, from the cache as far as they fit in it (`cache`):

    serial = waves of rows · (row · figures + chunk · ⌈width / chunk⌉)
    memory = bytes / (bandwidth · fraction) · slowness
    time   = floor + (serial² + memory²)^½

A norm adds a row up over all threads. RMSNorm adds one figure, the squares; LayerNorm three, the mean, the squared
deviations and the count (Welford 1962), each handed on where RMSNorm hands on one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...units import format_seconds
from ...words import counted
from . import cache
from .family import Bound, Family, KernelTime, Parameter
from .machine import Machine

_CHUNK: Final = 1024
"""Elements of a row that a CTA takes at once: a thread each, the most it may have."""

_LAYER_NORM_CHUNK: Final = 512
"""128 threads of four elements each: PyTorch's `vectorized_layer_norm_kernel`."""

_LAYER_NORM_FIGURES: Final = 3
"""Of the same kernel's `WelfordDataLN`. That they take three times as long is an estimate, made with Phi-2's errors in
sight: of this family its rows are no held-out data."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Arrays of shape (rows,)."""

    rows_per_unit: Any
    chunks: Any
    figures: int
    """That the threads of a row add up together."""
    stream_seconds: Any
    """Of all bytes at the bandwidth of the memory."""
    cache_fills: Any
    """Bytes over the capacity of the L2 cache."""


class RowWise(Family):
    """Kernels that move `elements` elements for each element of a row, reads and writes together."""

    dimensions = ("rows", "width")
    size = "rows"
    bounds: Mapping[str, Bound] = {"floor": "floor", "waves": "compute", "memory": "memory"}
    parameters = (
        Parameter("floor_seconds", 1.5e-6, 2e-7, 8e-6, "launch and end of a kernel that does nothing"),
        Parameter("row_seconds", 3e-7, 1e-9, 1e-5, "latency of a row"),
        Parameter("chunk_seconds", 6e-7, 1e-9, 1e-5, "each chunk of a row, one after the other"),
        Parameter("rows_at_once", 2.0, 0.3, 64.0, "rows that run on one unit at a time"),
        Parameter("wave_smoothness", 0.5, 0.0, 1.0, "0: waves are whole; 1: they are not felt", is_scale=False),
        Parameter("bandwidth_fraction", 0.7, 0.05, 1.1, "of the memory's bandwidth"),
        Parameter("l2_gain", 1.5, 1.0, 10.0, "of what the cache serves, over the memory"),
        Parameter("l2_share", 0.7, 0.05, 8.0, "of the cache at which half is served from it"),
        Parameter("l2_steepness", 2.0, 0.3, 8.0, "how abruptly the cache runs out"),
    )

    def __init__(self, name: str, elements: int, *, chunk: int = _CHUNK, figures: int = 1) -> None:
        self.name = name
        self.elements = elements
        self.chunk = chunk
        self.figures = figures

    def prepare(self, shape: Mapping[str, Any], machine: Machine) -> _Prepared:
        """Of rows and width, both counts of one device."""
        rows, width = (np.asarray(shape[name], dtype=np.float64) for name in self.dimensions)
        moved = self.elements * rows * width * machine.element_bytes
        return _Prepared(
            rows_per_unit=rows / machine.compute_units,
            chunks=np.ceil(width / self.chunk),
            figures=self.figures,
            stream_seconds=moved / machine.bytes_per_second,
            cache_fills=moved / machine.l2_bytes,
        )

    def seconds(self, prepared: _Prepared, values: Mapping[str, float]) -> Any:
        """Floor, and what is left of serial and memory time once they overlap."""
        serial, memory = _terms(prepared, values)
        return values["floor_seconds"] + np.hypot(serial, memory)

    def kernel_time(self, prepared: _Prepared, values: Mapping[str, float]) -> KernelTime:
        """Terms: floor, waves (the serial time), memory."""
        serial, memory = _terms(prepared, values)
        floor = np.full(np.shape(serial), values["floor_seconds"])
        return KernelTime(floor + np.hypot(serial, memory), {"floor": floor, "waves": serial, "memory": memory})

    def explain(self, shape: Mapping[str, int], machine: Machine, values: Mapping[str, float]) -> str:
        """ "4,096 rows on 108 SMs: 19 waves 13 µs; memory 98 µs; floor 1.5 µs"."""
        prepared = self.prepare({name: np.array([shape[name]]) for name in self.dimensions}, machine)
        terms = {name: float(term[0]) for name, term in self.kernel_time(prepared, values).terms.items()}
        waves = int(np.ceil(prepared.rows_per_unit[0] / values["rows_at_once"]))
        return (
            f"{counted(shape['rows'], 'row')} on {machine.compute_units} SMs: "
            f"{counted(waves, 'wave')} {format_seconds(terms['waves'])}; "
            f"memory {format_seconds(terms['memory'])}; floor {format_seconds(terms['floor'])}"
        )


def _terms(prepared: _Prepared, values: Mapping[str, float]) -> tuple[Any, Any]:
    """Serial and memory seconds."""
    smooth = values["wave_smoothness"]
    filled = prepared.rows_per_unit / values["rows_at_once"]
    waves = (1.0 - smooth) * np.ceil(filled) + smooth * np.maximum(filled, 1.0)
    serial = waves * (values["row_seconds"] * prepared.figures + values["chunk_seconds"] * prepared.chunks)
    served = cache.served(prepared.cache_fills, values, values["l2_steepness"])
    return serial, prepared.stream_seconds * cache.slowness(served, values) / values["bandwidth_fraction"]


NORMS: Final = (
    RowWise("rms_norm", elements=2),
    RowWise("layer_norm", elements=2, chunk=_LAYER_NORM_CHUNK, figures=_LAYER_NORM_FIGURES),
)
"""Read the row, write the row."""

ROW_WISE: Final = (
    *NORMS,
    RowWise("gated_activation", elements=3),
    RowWise("activation", elements=2),
    RowWise("rope", elements=2),
    RowWise("add", elements=3),
    RowWise("kv_save", elements=2),
)
"""By what an element of the row's width costs in traffic; the width of gated_activation is that of its result."""
