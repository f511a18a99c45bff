"""The two analytical modes: seconds from operations, bytes and messages, by the system's own figures.

    compute = operations / (unit peak × efficiency(operations))
    memory  = (read + write bytes) / (bandwidth × efficiency(read + write bytes))
    network = latency + (v + v·k/n) / (bandwidth × efficiency),  v = message bytes × m, n ranks

`peak-only` takes every efficiency as 1, `system-evidence` takes the profile's curves; nothing else differs. The
system's processing mode adds compute and memory time (`no_overlap`) or takes the larger (`roofline`). Left out: launch
floors, tile and wave quantisation, cache hits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import UnsupportedError, one_of
from ..mapping import NetworkTierBinding
from ..system import ComputeEngine, DeviceMemory, NetworkTier, SystemProfile, fractions
from .activity import Activity, ComponentActivity
from .block import ComponentCost, CostBlock
from .origin import Origin
from .provider import ANALYTICAL_MODES, CostProvider


@dataclass(frozen=True)
class AnalyticalProvider(CostProvider):
    """`peak-only` or `system-evidence`. Raises `UnknownNameError` for another name."""

    name: str

    def __post_init__(self) -> None:
        one_of("mode", self.name, ANALYTICAL_MODES)

    def cost(self, activity: Activity, system: SystemProfile, network: NetworkTierBinding) -> CostBlock:
        """Seconds of every component. Raises `UnsupportedError` where the system lacks a peak or a curve."""
        system.require_datatype(activity.datatype)
        uses_curves = self.name == "system-evidence"
        if uses_curves:
            _require_curves(system)
        origin = Origin(self.name, system.revision, self.name, "formula")
        costs = tuple(
            replace(_component_cost(component, activity.datatype, system, network, uses_curves), origins=(origin,))
            for component in activity.components
        )
        return CostBlock(activity, costs, provider=self.name, system_revision=system.revision)


def _require_curves(system: SystemProfile) -> None:
    if missing := system.missing_efficiency:
        raise UnsupportedError(
            "mode",
            got="'system-evidence'",
            rule=f"needs efficiencies that nobody measured for {system.name}: {', '.join(missing)}",
            next_step="Use mode='peak-only', or a system with curves such as a100_80g or h100_80g_nvl8.",
        )


def _component_cost(
    component: ComponentActivity,
    datatype: str,
    system: SystemProfile,
    network: NetworkTierBinding,
    uses_curves: bool,
) -> ComponentCost:
    if component.collective is not None:
        seconds = _network_seconds(component, system, network, uses_curves)
        return ComponentCost(_zeros(seconds), _zeros(seconds), seconds, seconds)
    engine = system.matrix if component.unit == "matrix" else system.vector
    compute = compute_seconds(component.operations, engine, datatype, uses_curves)
    memory = memory_seconds(component.read_bytes + component.write_bytes, system.memory, uses_curves)
    total = compute + memory if system.processing_mode == "no_overlap" else np.maximum(compute, memory)
    return ComponentCost(compute, memory, _zeros(total), total)


def compute_seconds(operations: Any, engine: ComputeEngine, datatype: str, uses_curves: bool) -> Any:
    """Seconds of `operations` (ints of any shape) on `engine`; float64 of the same shape."""
    work = np.asarray(operations, dtype=np.float64)
    reached = fractions(engine.efficiency, work) if uses_curves and engine.efficiency else 1.0
    return work / (engine.peak_flops(datatype) * reached)


def memory_seconds(traffic_bytes: Any, memory: DeviceMemory, uses_curves: bool) -> Any:
    """Seconds of `traffic_bytes` (ints of any shape) through `memory`; float64 of the same shape."""
    traffic = np.asarray(traffic_bytes, dtype=np.float64)
    reached = fractions(memory.efficiency, traffic) if uses_curves and memory.efficiency else 1.0
    return traffic / (memory.bytes_per_second * reached)


def _network_seconds(
    component: ComponentActivity, system: SystemProfile, network: NetworkTierBinding, uses_curves: bool
) -> Any:
    if component.ranks < 2 or component.collective is None:
        return _zeros(np.asarray(component.message_bytes, dtype=np.float64))
    tier = carrying_tier(component, system, network)
    cost = tier.collective(component.collective)
    sent = np.asarray(component.message_bytes, dtype=np.float64) * cost.message_multiple
    reached = tier.efficiency_fraction if uses_curves and tier.efficiency_fraction else 1.0
    crossing = sent + sent * cost.rank_coefficient / component.ranks
    return tier.latency_seconds + crossing / (tier.bytes_per_second(component.ranks) * reached)


def carrying_tier(component: ComponentActivity, system: SystemProfile, network: NetworkTierBinding) -> NetworkTier:
    """The tier that carries a collective. Raises `InvalidInputError` where no such tier reaches its ranks."""
    field = "pipeline_parallel_network" if component.collective == "point_to_point" else "tensor_parallel_network"
    return system.tier(getattr(network, field), field, component.ranks)


def _zeros(like: Any) -> Any:
    return np.zeros_like(like)
