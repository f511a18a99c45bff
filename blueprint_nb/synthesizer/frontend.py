"""From a model's specification to ModelIR."""

from __future__ import annotations

from functools import lru_cache

from ..ir.model_ir import (
    BlockAttributes,
    EmbeddingAttributes,
    HeadAttributes,
    KeyValueCacheEffect,
    ModelIR,
    ModelOperation,
)
from ..workload import TransformerModelSpec


@lru_cache(maxsize=128)
def build_model_ir(model: TransformerModelSpec) -> ModelIR:
    """The phase-neutral IR of `model`. The template `dense-mha` has the stack of blocks only."""
    stack = ModelOperation(
        id="decoder",
        kind="transformer.decoder_inference",
        repeat=model.block_count,
        inputs=() if model.is_reference else ("embedding",),
        block=_block(model),
        effects=(KeyValueCacheEffect(heads=model.key_value_heads, head_size=model.attention_head_size),),
    )
    operations = (stack,) if model.is_reference else (_embedding(model), stack, _head(model))
    return ModelIR(name=model.name, sequence_length=model.sequence_length, operations=operations)


def _block(model: TransformerModelSpec) -> BlockAttributes:
    rotary_size = model.rotary_size or model.attention_head_size
    return BlockAttributes(
        hidden_size=model.hidden_size,
        feedforward_size=model.feedforward_size,
        attention_heads=model.attention_heads,
        key_value_heads=model.key_value_heads,
        attention_head_size=model.attention_head_size,
        mlp=model.mlp,
        activation=model.activation,
        norm=model.norm,
        residual=model.residual,
        position=model.position,
        rotary_size=rotary_size if model.position == "rope" else 0,
        biases=model.biases - {"lm_head"},
    )


def _embedding(model: TransformerModelSpec) -> ModelOperation:
    rows = model.sequence_length if model.position_rows is None else model.position_rows
    attributes = EmbeddingAttributes(
        hidden_size=model.hidden_size,
        vocab_size=model.vocab_size or 0,
        position_rows=rows if model.position == "learned" else 0,
    )
    return ModelOperation(id="embedding", kind="transformer.embedding", embedding=attributes)


def _head(model: TransformerModelSpec) -> ModelOperation:
    attributes = HeadAttributes(
        hidden_size=model.hidden_size,
        vocab_size=model.vocab_size or 0,
        norm=model.norm,
        bias="lm_head" in model.biases,
        tied_to="embedding" if model.tied_embeddings else None,
    )
    return ModelOperation(id="head", kind="transformer.lm_head", inputs=("decoder",), head=attributes)
