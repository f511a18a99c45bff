"""Host overhead: what a step takes beside the work of its devices, as a component of its own, once a step.

A plan knows devices alone, so the component is put behind its others when it is priced. It takes no operations and
moves no bytes; its kernel is `host`, of the step's sequences and the ranks of a tensor-parallel group.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from ..mapping import NetworkTierBinding
from ..system import SystemProfile
from .activity import Activity, ComponentActivity
from .block import CostBlock
from .provider import CostProvider

HOST_OVERHEAD: Final = "host_overhead"
"""The component."""

HOST_LAYER: Final = "host"
"""Its source layer: of neither block nor stack."""


@dataclass(frozen=True)
class WithHostOverhead(CostProvider):
    """Prices a plan's components by one provider and the host's by another."""

    devices: CostProvider
    host: CostProvider
    name: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"{self.devices.name} + {HOST_OVERHEAD} by {self.host.name}")

    def cost(self, activity: Activity, system: SystemProfile, network: NetworkTierBinding) -> CostBlock:
        """Seconds of every component and, behind them, of the host. Raises as both providers do."""
        priced = self.devices.cost(activity, system, network)
        of_host = self.host.cost(replace(activity, components=(host_activity(activity),)), system, network)
        whole = replace(activity, components=(*priced.activity.components, *of_host.activity.components))
        return CostBlock(whole, (*priced.costs, *of_host.costs), provider=self.name, system_revision=system.revision)

    def explanation(
        self, component: ComponentActivity, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> str:
        """Of whoever priced it."""
        provider = self.host if component.component == HOST_OVERHEAD else self.devices
        return provider.explanation(component, activity, system, network)


def host_activity(activity: Activity) -> ComponentActivity:
    """The component `host_overhead` of a step."""
    groups = (one.ranks for one in activity.components if one.collective not in (None, "point_to_point"))
    return ComponentActivity(
        component=HOST_OVERHEAD,
        primitive=HOST_OVERHEAD,
        source_layer=HOST_LAYER,
        unit="vector",
        executions=1,
        collective=None,
        ranks=1,
        operations=0,
        read_bytes=0,
        write_bytes=0,
        message_bytes=0,
        sizes={"ranks": max(groups, default=1)},
    )
