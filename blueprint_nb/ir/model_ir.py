"""ModelIR: what a model computes, whatever the phase, the mapping and the machine.

A decoder is one `transformer.decoder_inference` operation for each group of equal blocks, with its effect on the KV
cache said explicitly, between the operations before and after the stack.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from .._canonical import Digested
from .._schema import Count, Flag, Index, Record
from ..workload.model import Activation, Bias, Mlp, Norm, Position, Residual
from .text import columns, short
from .verify import check_order, check_unique


class KeyValueCacheEffect(Record):
    """Each token appends its keys and values to the cache of every block; attention reads all of them."""

    state: Literal["kv_cache"] = "kv_cache"
    heads: Count
    head_size: Count
    appends: Literal["query_tokens"] = "query_tokens"
    reads: Literal["context_tokens"] = "context_tokens"


class EmbeddingAttributes(Record):
    """Token (and learned position) embedding."""

    hidden_size: Count
    vocab_size: Count
    position_rows: Index = 0


class BlockAttributes(Record):
    """One dense decoder block."""

    hidden_size: Count
    feedforward_size: Count
    attention_heads: Count
    key_value_heads: Count
    attention_head_size: Count
    mlp: Mlp
    activation: Activation
    norm: Norm
    residual: Residual
    position: Position
    rotary_size: Index
    biases: frozenset[Bias]


class HeadAttributes(Record):
    """Final norm and LM head, on the last position of each sequence."""

    hidden_size: Count
    vocab_size: Count
    norm: Norm
    bias: Flag = False
    tied_to: str | None = None
    """Operation that owns the weights, when they are the embedding's."""


class ModelOperation(Record):
    """One node: `repeat` equal layers of one kind."""

    id: str
    kind: Literal["transformer.embedding", "transformer.decoder_inference", "transformer.lm_head"]
    repeat: Count = 1
    inputs: tuple[str, ...] = ()
    embedding: EmbeddingAttributes | None = None
    block: BlockAttributes | None = None
    head: HeadAttributes | None = None
    effects: tuple[KeyValueCacheEffect, ...] = ()


class ModelIR(Digested):
    """A phase-neutral model. Raises `IntegrityError` when malformed."""

    not_content: ClassVar[frozenset[str]] = frozenset({"name"})

    name: str
    """For the reader; models that compute the same have the same digest."""
    sequence_length: Count
    operations: tuple[ModelOperation, ...]

    def model_post_init(self, context: object) -> None:
        """Verify."""
        check_unique("operations", [operation.id for operation in self.operations])
        check_order("operations", [(operation.id, operation.inputs) for operation in self.operations])

    def __str__(self) -> str:
        rows = [
            (operation.id, operation.kind, f"× {operation.repeat:,}", *_effects(operation))
            for operation in self.operations
        ]
        title = f"ModelIR of {self.name}, up to {self.sequence_length:,} tokens ({short(self.digest)})"
        return f"{title}\n{columns(rows, numeric_from=9)}"


def _effects(operation: ModelOperation) -> tuple[str]:
    words = []
    for effect in operation.effects:
        heads = f"{effect.heads:,} heads of {effect.head_size:,}"
        words.append(f"{effect.state}: appends {effect.appends}, reads {effect.reads}, {heads}")
    return ("; ".join(words),)
