"""The embedding: a row of the table copied for each token.

For a few indices the usual kernel takes one after the other; for more it spreads them over the device, which costs the
same whatever they are until the bytes count:

    serial = min(tokens · index, spread)
    memory = bytes / bandwidth · [(1 − h) / f + h / (f · gain)],  h as in `row_wise`
    time   = floor + (serial² + memory²)^½

Source: the kernels `indexSelectSmallIndex` and `indexSelectLargeIndex` of PyTorch, and their switch at 16 indices.
Where that switch makes a real kernel faster for 17 tokens than for 16, time stays level here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...units import format_seconds
from .family import Bound, Family, KernelTime, Parameter
from .machine import Machine
from .row_wise import CACHE_PARAMETERS, cached_seconds, counted_rows

_ELEMENTS = 2
"""Read from the table, written to the activations."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Arrays of shape (rows,)."""

    rows: Any
    stream_seconds: Any
    cache_fills: Any


class Embedding(Family):
    """Look-ups of rows of `width` elements."""

    name = "embedding"
    dimensions = ("rows", "width")
    size = "rows"
    bounds: Mapping[str, Bound] = {"floor": "floor", "serial": "compute", "memory": "memory"}
    parameters = (
        Parameter("floor_seconds", 2.5e-6, 2e-7, 8e-6, "launch and end of a kernel that does nothing"),
        Parameter("index_seconds", 4e-7, 1e-8, 2e-6, "an index, one after the other"),
        Parameter("spread_seconds", 3e-6, 1e-7, 2e-5, "many indices, spread over the device"),
        *CACHE_PARAMETERS,
    )

    def prepare(self, shape: Mapping[str, Any], machine: Machine) -> _Prepared:
        """Of rows (tokens) and width."""
        rows, width = (np.asarray(shape[name], dtype=np.float64) for name in self.dimensions)
        moved = _ELEMENTS * rows * width * machine.element_bytes
        return _Prepared(rows, moved / machine.bytes_per_second, moved / machine.l2_bytes)

    def seconds(self, prepared: _Prepared, values: Mapping[str, float]) -> Any:
        """Floor, and what is left of serial and memory time once they overlap."""
        return values["floor_seconds"] + np.hypot(*_terms(prepared, values))

    def kernel_time(self, prepared: _Prepared, values: Mapping[str, float]) -> KernelTime:
        """Terms: floor, serial, memory."""
        serial, memory = _terms(prepared, values)
        floor = np.full(np.shape(serial), values["floor_seconds"])
        return KernelTime(floor + np.hypot(serial, memory), {"floor": floor, "serial": serial, "memory": memory})

    def explain(self, shape: Mapping[str, int], machine: Machine, values: Mapping[str, float]) -> str:
        """ "4,096 rows of the table: one after the other 3.1 µs; memory 98 µs; floor 1.5 µs"."""
        time = self.kernel_time(
            self.prepare({name: np.array([shape[name]]) for name in self.dimensions}, machine), values
        )
        terms = {name: format_seconds(float(term[0])) for name, term in time.terms.items()}
        spread = shape["rows"] * values["index_seconds"] > values["spread_seconds"]
        how = "spread over the device" if spread else "one after the other"
        return (
            f"{counted_rows(shape['rows'])} of the table, {how}: {terms['serial']}; memory {terms['memory']}; "
            f"floor {terms['floor']}"
        )


def _terms(prepared: _Prepared, values: Mapping[str, float]) -> tuple[Any, Any]:
    """Serial and memory seconds."""
    serial = np.minimum(prepared.rows * values["index_seconds"], values["spread_seconds"])
    return serial, cached_seconds(prepared.stream_seconds, prepared.cache_fills, values)
