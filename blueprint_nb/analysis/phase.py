"""A bound plan on a system: the frozen estimate of one phase."""

from __future__ import annotations

from dataclasses import dataclass

from ..cost import Activity, CostBlock, CostProvider, plan_activity, require_provider
from ..ir import BoundPlan
from ..mapping import NetworkTierBinding
from ..system import SystemProfile
from .oracle import oracles_shut


@dataclass(frozen=True, eq=False)
class PhaseEstimate:
    """What one phase costs. Seconds are of all stages in turn, all executions counted."""

    plan: BoundPlan
    costs: CostBlock

    @property
    def seconds(self) -> float:
        """Of the whole model; for the template `dense-mha`, of the stack."""
        return float(self.costs.seconds)

    @property
    def stack_seconds(self) -> float:
        """Of the decoder stack: its blocks and the hops between stages."""
        return float(self.costs.stack_seconds)

    @property
    def block_seconds(self) -> float:
        """Of one decoder block."""
        return float(self.costs.block_seconds)

    @property
    def component_seconds(self) -> dict[str, float]:
        """Of one execution of each component, in plan order."""
        return {activity.component: float(cost.seconds) for activity, cost in self.costs.priced}


def estimate_inference_phase(
    plan: BoundPlan, system: SystemProfile, network: NetworkTierBinding, provider: CostProvider
) -> PhaseEstimate:
    """Prices one plan.

    Raises `UnsupportedError` where the system lacks a figure the provider needs, `InvalidInputError` where a
    collective's group exceeds its tier, TypeError where `provider` is not one, `OracleError` where it reads a
    measured reference.
    """
    return PhaseEstimate(plan, price(require_provider(provider), plan_activity(plan), system, network))


def price(provider: CostProvider, activity: Activity, system: SystemProfile, network: NetworkTierBinding) -> CostBlock:
    """What `provider` makes of an activity, with every oracle shut. Raises as `estimate_inference_phase`."""
    with oracles_shut():
        return provider.cost(activity, system, network)
