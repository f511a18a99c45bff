"""A network tier and what a collective takes on it.

Time = latency + (v + v·k/n)/(bandwidth × efficiency) with v = message bytes × m and n ranks; none below two
ranks. m and k belong to the algorithm: a ring all-reduce sends 2·(n − 1)/n of the message: m = 2 and k = −1.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .._schema import Count, Number, Record, Text
from ..errors import UnsupportedError
from ..units import GIGA, MICRO
from .efficiency import Fraction

Collective = Literal["all_reduce", "all_gather", "reduce_scatter", "point_to_point"]


class CollectiveCost(Record):
    """How often a message crosses the wire."""

    message_multiple: Annotated[Number, Field(ge=1e-3, le=100)]
    """m"""
    rank_coefficient: Annotated[Number, Field(ge=-1, le=100)]
    """k"""


class NetworkTier(Record):
    """Links of one kind: those in the box, or those between boxes."""

    name: Text
    bandwidth_gb_per_s: Annotated[Number, Field(ge=1e-3, le=10**5)]
    """Of one device, in one direction."""
    peer_bandwidth_gb_per_s: Annotated[Number, Field(ge=1e-3, le=10**5)] | None = None
    """Of the direct link between two devices, in one direction, where there is no switch: a group of n ranks then has
    n − 1 such links a device. None where any device reaches any other at the whole bandwidth."""
    efficiency_fraction: Fraction | None = None
    """Fraction of the bandwidth reached; None where nobody measured it."""
    max_ranks: Count
    """Largest group of one collective."""
    latency_us: Annotated[Number, Field(ge=0, le=10**6)]
    collectives: dict[Collective, CollectiveCost]

    def bytes_per_second(self, ranks: int) -> float:
        """Peak bandwidth that one device has to a group of `ranks`, in one direction."""
        whole = self.bandwidth_gb_per_s
        if self.peer_bandwidth_gb_per_s is not None:
            whole = min(whole, self.peer_bandwidth_gb_per_s * (ranks - 1))
        return float(whole * GIGA)

    @property
    def latency_seconds(self) -> float:
        """Latency of one collective."""
        return float(self.latency_us * MICRO)

    def collective(self, kind: Collective) -> CollectiveCost:
        """The cost of `kind`. Raises `UnsupportedError` where it is unknown."""
        if kind not in self.collectives:
            known = ", ".join(sorted(self.collectives))
            raise UnsupportedError(f"collectives.{kind}", rule="is not in this profile", next_step=f"It has {known}.")
        return self.collectives[kind]
