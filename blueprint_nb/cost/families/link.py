"""The figures of a network tier that the cost forms of collectives read."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from ..._schema import Number, Record
from ...system import NetworkTier
from ...units import GIGA

_Rate = Annotated[Number, Field(gt=0)]


class Link(Record):
    """One device's links of one kind, in one direction. Raises `InvalidInputError`."""

    bytes_per_second: _Rate
    """To all others together."""
    peer_bytes_per_second: _Rate | None = None
    """To one other, where there is no switch; None where any device reaches any other at the whole bandwidth."""

    def to_group(self, ranks: Any) -> Any:
        """Bandwidth of one device to a group of `ranks`: float64 of their shape."""
        others = np.maximum(np.asarray(ranks, dtype=np.float64) - 1.0, 1.0)
        peers = np.inf if self.peer_bytes_per_second is None else self.peer_bytes_per_second
        return np.minimum(self.bytes_per_second, peers * others)


HOST_LINK = "PCIe"
"""Begins the name of a tier through the host, which links between devices say nothing of."""


def is_through_host(tier_name: str) -> bool:
    """Whether a tier of this name goes through the host: PCIe of any generation."""
    return tier_name.lower().startswith(HOST_LINK.lower())


def collective_keys(kind: str, tier_name: str) -> list[str]:
    """Keys of a calibration set's families that may price a collective over a tier, the closest first."""
    host = [f"{kind}@{HOST_LINK}"] if is_through_host(tier_name) else []
    return [f"{kind}@{tier_name}", *host, kind]


def link_of(tier: NetworkTier) -> Link:
    """A tier's figures."""
    peer = tier.peer_bandwidth_gb_per_s
    return Link(
        bytes_per_second=tier.bandwidth_gb_per_s * GIGA,
        peer_bytes_per_second=None if peer is None else peer * GIGA,
    )
