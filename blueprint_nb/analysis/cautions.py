"""What is legal but may not be what was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .inputs import RequestInputs

if TYPE_CHECKING:
    from .estimate import Estimate


def cautions(estimate: Estimate) -> list[str]:
    """Sentences about an estimate, empty where there is nothing to say."""
    return _far_stages(estimate.inputs)


def _far_stages(inputs: RequestInputs) -> list[str]:
    network, mapping = inputs.network, inputs.mapping
    index = network.pipeline_parallel_network
    tier = inputs.system.tier(index, "pipeline_parallel_network")
    devices = mapping.tensor_parallel * mapping.pipeline_parallel
    if mapping.pipeline_parallel == 1 or devices <= tier.max_ranks or index == len(inputs.system.network) - 1:
        return []
    return [
        f"The {devices:,} devices of a replica are more than the {tier.max_ranks:,} that network tier {index} "
        f"({tier.name}) reaches, yet it carries every hop between stages: where stages stand apart, bind "
        f"pipeline_parallel_network to another tier."
    ]
