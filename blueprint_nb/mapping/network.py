"""Which network tier of the system carries which traffic."""

from __future__ import annotations

from .._schema import Index, Record


class NetworkTierBinding(Record):
    """Indices of the system's network tiers, 0 being the one in the box. Raises `InvalidInputError`."""

    tensor_parallel_network: Index = 0
    """Carries the collectives of TP."""
    pipeline_parallel_network: Index = 0
    """Carries the hop between pipeline stages."""
