"""The figures of a device that the cost forms of kernels read."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..._schema import Count, Number, Record
from ...errors import UnsupportedError
from ...system import SystemProfile
from ...workload import element_bytes

_MIB = 2**20


class Machine(Record):
    """One device and the datatype its kernels run in. Raises `InvalidInputError`."""

    compute_units: Count
    """Streaming multiprocessors or compute units."""
    matrix_flops: Annotated[Number, Field(gt=0)]
    """Peak of the matrix engines in this datatype (FLOP/s)."""
    bytes_per_second: Annotated[Number, Field(gt=0)]
    """Bandwidth of the device memory."""
    l2_bytes: Annotated[Number, Field(gt=0)]
    """Capacity of the last cache before the device memory."""
    element_bytes: Count
    """Of the datatype."""


def machine_of(system: SystemProfile, datatype: str) -> Machine:
    """A system's figures. Raises `UnsupportedError`, naming the one it lacks."""
    system.require_datatype(datatype)
    units, cache = system.compute_units, system.l2_cache_mib
    for field, figure in (("compute_units", units), ("l2_cache_mib", cache)):
        if figure is None:
            raise UnsupportedError(
                f"{system.name}.{field}",
                got="nothing",
                rule="is needed by the mode calibrated",
                next_step="Give the figure, or use another mode.",
            )
    return Machine(
        compute_units=units or 0,
        matrix_flops=system.matrix.peak_flops(datatype),
        bytes_per_second=system.memory.bytes_per_second,
        l2_bytes=(cache or 0) * _MIB,
        element_bytes=element_bytes(datatype),
    )
