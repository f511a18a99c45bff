"""Rules that need two parts at once: a model and a request, a mapping and a system."""

from __future__ import annotations

from ..errors import InvalidInputError
from ..mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from ..system import SystemProfile
from ..workload import TransformerInferenceRequestSpec, TransformerModelSpec


def check_context(model: TransformerModelSpec, request: TransformerInferenceRequestSpec) -> None:
    """Raises `InvalidInputError` where the last step sees more than the model's sequence length."""
    if request.last_context_tokens > model.sequence_length:
        raise InvalidInputError(
            "prompt_tokens + generated_tokens - 1",
            got=f"{request.last_context_tokens:,}",
            rule=f"must be at most the sequence length of {model.name}, {model.sequence_length:,} tokens",
            next_step="Shorten the prompt or the output.",
        )


def check_tiers(system: SystemProfile, network: NetworkTierBinding) -> None:
    """Raises `InvalidInputError` where a tier does not exist, whatever the mapping."""
    system.tier(network.tensor_parallel_network, "tensor_parallel_network")
    system.tier(network.pipeline_parallel_network, "pipeline_parallel_network")


def check_network(system: SystemProfile, mapping: TransformerInferenceMappingSpec, network: NetworkTierBinding) -> None:
    """Raises `InvalidInputError` where a tier does not exist, or is too small for one collective's group."""
    groups = (
        (
            "tensor_parallel_network",
            network.tensor_parallel_network,
            "tensor_parallel",
            mapping.tensor_parallel,
        ),
        (
            "pipeline_parallel_network",
            network.pipeline_parallel_network,
            "",
            min(2, mapping.pipeline_parallel),
        ),
    )
    for field, index, size_field, ranks in groups:
        tier = system.tier(index, field)
        if ranks > tier.max_ranks:
            raise InvalidInputError(
                size_field or field,
                got=str(ranks),
                rule=f"must be at most {tier.max_ranks:,}, the ranks that network tier {index} ({tier.name}) "
                f"of {system.name} reaches",
                next_step=f"Use fewer ranks, or another {field}.",
            )
