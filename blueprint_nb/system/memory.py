"""Device memory: how much, how fast, and how much of it an engine may use."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from .._schema import Number, Record
from ..units import GIB, GIGA
from .efficiency import Fraction, MemoryStep, check_curve


class DeviceMemory(Record):
    """The memory that weights, KV cache and activations live in (HBM or GDDR)."""

    capacity_gib: Annotated[Number, Field(ge=1e-3, le=65_536)]
    bandwidth_gb_per_s: Annotated[Number, Field(ge=1e-2, le=10**6)]
    usable_fraction: Fraction = 1.0
    """What serving may take: 0.9 is the usual default of engines; the rest is for context and fragments."""
    efficiency: tuple[MemoryStep, ...] | None = None
    """Fraction of the bandwidth by bytes of one operation; None where nobody measured it."""

    @model_validator(mode="after")
    def _is_usable(self) -> Self:
        if self.efficiency is not None:
            check_curve(self.efficiency)
        return self

    @property
    def capacity_bytes(self) -> int:
        """GiB × 2^30."""
        return round(self.capacity_gib * GIB)

    @property
    def usable_bytes(self) -> int:
        """Capacity × usable fraction, rounded down."""
        return int(self.capacity_bytes * self.usable_fraction)

    @property
    def bytes_per_second(self) -> float:
        """Peak bandwidth."""
        return float(self.bandwidth_gb_per_s * GIGA)
