"""Rules that need two parts at once: a model and a request, a mapping and a system."""

from __future__ import annotations

from ..errors import InvalidInputError
from ..mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from ..system import SystemProfile
from ..workload import TransformerInferenceRequestSpec, TransformerModelSpec


def context_rule(model: TransformerModelSpec) -> str:
    """What every visible context must keep to."""
    return f"must be at most the sequence length of {model.name}, {model.sequence_length:,} tokens"


def check_context(model: TransformerModelSpec, request: TransformerInferenceRequestSpec) -> None:
    """Raises `InvalidInputError` where the last step sees more than the model's sequence length."""
    if request.last_context_tokens > model.sequence_length:
        raise InvalidInputError(
            "prompt_tokens + generated_tokens - 1",
            got=f"{request.last_context_tokens:,}",
            rule=context_rule(model),
            next_step="Shorten the prompt or the output.",
        )


def check_network(system: SystemProfile, mapping: TransformerInferenceMappingSpec, network: NetworkTierBinding) -> None:
    """Raises `InvalidInputError` where a tier does not exist, or does not reach the group of one collective."""
    system.tier(network.tensor_parallel_network, "tensor_parallel_network", mapping.tensor_parallel)
    system.tier(network.pipeline_parallel_network, "pipeline_parallel_network", min(2, mapping.pipeline_parallel))


def network_fault(
    system: SystemProfile, mapping: TransformerInferenceMappingSpec, network: NetworkTierBinding
) -> str | None:
    """The rule of the network that `mapping` breaks; None when it breaks none."""
    try:
        check_network(system, mapping, network)
    except InvalidInputError as error:
        return error.rule
    return None
