"""The embedding: a row of the table copied for each token.

For a few indices the usual kernel takes one after the other; for more it spreads them over the device, which costs the
same whatever they are until the elements count. Each finds its place in the table by a division, so that the units, not
the memory, set the pace of large ones:

    serial   = min(tokens · index, spread)
    elements = tokens · width / units · element
    memory   = bytes / (bandwidth · fraction)
    time     = floor + (serial² + max(elements, memory)²)^½

Source: the kernels `indexSelectSmallIndex` and `indexSelectLargeIndex` of PyTorch, and their switch at 16 indices.
Where that switch makes a real kernel faster for 17 tokens than for 16, time stays level here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...units import format_seconds
from ...words import counted
from .family import Bound, Family, KernelTime, Parameter
from .machine import Machine

_ELEMENTS = 2
"""Read from the table, written to the activations."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Arrays of shape (rows,)."""

    rows: Any
    elements_per_unit: Any
    stream_seconds: Any
    """Of all bytes at the bandwidth of the memory."""


class Embedding(Family):
    """Look-ups of rows of `width` elements."""

    name = "embedding"
    dimensions = ("rows", "width")
    size = "rows"
    bounds: Mapping[str, Bound] = {"floor": "floor", "serial": "compute", "elements": "compute", "memory": "memory"}
    parameters = (
        Parameter("floor_seconds", 2.5e-6, 2e-7, 8e-6, "launch and end of a kernel that does nothing"),
        Parameter("index_seconds", 4e-7, 1e-8, 2e-6, "an index, one after the other"),
        Parameter("spread_seconds", 3e-6, 1e-7, 2e-5, "many indices, spread over the device"),
        Parameter("element_seconds", 5e-10, 2e-11, 1e-8, "an element of a row, on one unit"),
        Parameter("bandwidth_fraction", 0.8, 0.3, 1.1, "of the memory's bandwidth"),
    )

    def prepare(self, shape: Mapping[str, Any], machine: Machine) -> _Prepared:
        """Of rows (tokens) and width."""
        rows, width = (np.asarray(shape[name], dtype=np.float64) for name in self.dimensions)
        elements = rows * width
        moved = _ELEMENTS * elements * machine.element_bytes
        return _Prepared(rows, elements / machine.compute_units, moved / machine.bytes_per_second)

    def seconds(self, prepared: _Prepared, values: Mapping[str, float]) -> Any:
        """Floor, and what is left of serial time and of that of the elements once they overlap."""
        serial, elements, memory = _terms(prepared, values)
        return values["floor_seconds"] + np.hypot(serial, np.maximum(elements, memory))

    def kernel_time(self, prepared: _Prepared, values: Mapping[str, float]) -> KernelTime:
        """Terms: floor, serial, elements, memory."""
        names = ("serial", "elements", "memory")
        terms = dict(zip(names, _terms(prepared, values), strict=True))
        floor = np.full(np.shape(terms["serial"]), values["floor_seconds"])
        seconds = floor + np.hypot(terms["serial"], np.maximum(terms["elements"], terms["memory"]))
        return KernelTime(seconds, {"floor": floor, **terms})

    def explain(self, shape: Mapping[str, int], machine: Machine, values: Mapping[str, float]) -> str:
        """ "4,096 rows of the table, spread over the device: 3.1 µs; elements 98 µs; floor 1.5 µs"."""
        time = self.kernel_time(
            self.prepare({name: np.array([shape[name]]) for name in self.dimensions}, machine), values
        )
        terms = {name: format_seconds(float(term[0])) for name, term in time.terms.items()}
        spread = shape["rows"] * values["index_seconds"] > values["spread_seconds"]
        how = "spread over the device" if spread else "one after the other"
        return (
            f"{counted(shape['rows'], 'row')} of the table, {how}: {terms['serial']}; elements {terms['elements']}; "
            f"floor {terms['floor']}"
        )


def _terms(prepared: _Prepared, values: Mapping[str, float]) -> tuple[Any, Any, Any]:
    """Serial, elements and memory seconds."""
    serial = np.minimum(prepared.rows * values["index_seconds"], values["spread_seconds"])
    elements = prepared.elements_per_unit * values["element_seconds"]
    return serial, elements, prepared.stream_seconds / values["bandwidth_fraction"]
