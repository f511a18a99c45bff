"""What a model weighs: parameters and KV cache, from the same components that a plan is made of."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InvalidInputError
from ..mapping import TransformerInferenceMappingSpec
from ..workload import InferencePhase, TransformerModelSpec
from .checks import context_rule
from .inputs import CacheInputs
from .lowering import attention_of, lower
from .memory import step_memory


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """A model's size. The template `dense-mha` counts its stack of blocks only."""

    name: str
    total_parameters: int
    """All weights, tied ones counted once."""
    active_parameters: int
    """Those that one token uses: all, in a dense model."""
    block_parameters: int
    """Of all blocks together."""
    embedding_parameters: int
    """Of the input table of tokens; 0 in the template `dense-mha`."""
    architecture: str
    """The block in words."""


def describe_model(model: TransformerModelSpec) -> ModelDescription:
    """Counts a model's weights as one unsharded device holds them."""
    distributed = lower(model, TransformerInferenceMappingSpec(), "float16", attention_of(model, None)).distributed
    blocks = sum(task.weights.constant * task.executions for task in distributed.tasks if task.scope == "every")
    total = next(buffer for buffer in distributed.buffers if buffer.kind == "weights").elements.constant
    return ModelDescription(
        name=model.name,
        total_parameters=total,
        active_parameters=total,
        block_parameters=blocks,
        embedding_parameters=0 if model.is_reference else (model.vocab_size or 0) * model.hidden_size,
        architecture=model.architecture,
    )


def key_value_cache_bytes(inputs: CacheInputs) -> int:
    """Bytes of KV cache that one device holds. Raises `InvalidInputError` beyond the model's sequence length."""
    model, context_tokens = inputs.model, inputs.context_tokens
    if context_tokens > model.sequence_length:
        raise InvalidInputError(
            "context_tokens",
            got=f"{context_tokens:,}",
            rule=context_rule(model),
        )
    template = lower(model, inputs.mapping, inputs.datatype, attention_of(model, None)).bound
    return int(step_memory(template, InferencePhase.DECODE, inputs.batch_size, context_tokens).kv_cache_bytes)
