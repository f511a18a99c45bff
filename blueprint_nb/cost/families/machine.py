"""The figures of a device that the cost forms of kernels read."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..._schema import Count, Number, Record
from ...errors import UnsupportedError
from ...system import SystemProfile
from ...units import MIB
from ...workload import element_bytes


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


def missing_figures(system: SystemProfile) -> tuple[str, ...]:
    """Fields that the cost forms need and the system does not give."""
    return tuple(name for name in ("compute_units", "l2_cache_mib") if getattr(system, name) is None)


def machine_of(system: SystemProfile, datatype: str) -> Machine:
    """A system's figures. Raises `UnsupportedError`, naming those that it lacks and the datatype."""
    system.require_datatype(datatype)
    if missing := " and ".join(missing_figures(system)):
        others = " or ".join(name for name in system.matrix.datatypes if name != datatype)
        raise UnsupportedError(
            system.name,
            got=f"{datatype} and a profile without {missing}",
            rule=f"must give {missing} to be priced by its own figures in the mode calibrated",
            next_step="Use another mode" + (f", or {others}, which it has peaks of." if others else "."),
        )
    return Machine(
        compute_units=system.compute_units or 0,
        matrix_flops=system.matrix.peak_flops(datatype),
        bytes_per_second=system.memory.bytes_per_second,
        l2_bytes=(system.l2_cache_mib or 0) * MIB,
        element_bytes=element_bytes(datatype),
    )
