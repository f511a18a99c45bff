"""What one rank holds of every dimension, and the sizes that formulas name."""

from __future__ import annotations

from ..ir.distributed import Sharding
from .parts import ModelParts

_ACTIVATION_OPERATIONS = {"gelu": 8, "silu": 4, "relu": 1}
"""Operations an element: GELU as in the reference model; SiLU is exp, add, divide, multiply; ReLU a comparison."""

_ALIBI_OPERATIONS = 2
"""A slope times a distance, added to every score."""


def shard(parts: ModelParts, ranks: int) -> Sharding:
    """What one of `ranks` tensor-parallel ranks holds. The mapping must be legal."""
    block = parts.block
    vocab = parts.embedding.vocab_size if parts.embedding else 0
    vocab_rows = -(-vocab // ranks)
    return Sharding(
        query_heads=block.attention_heads // ranks,
        key_value_heads=max(1, block.key_value_heads // ranks),
        key_value_replication=max(1, ranks // block.key_value_heads),
        feedforward_size=block.feedforward_size // ranks,
        vocab_rows=vocab_rows,
        padded_vocab_rows=vocab_rows * ranks - vocab,
    )


def formula_sizes(parts: ModelParts, sharding: Sharding, ranks: int) -> dict[str, int]:
    """The value of every name in the formulas of `components` and `buffers` that is not a statistic."""
    block, head_size = parts.block, parts.block.attention_head_size
    query_width = sharding.query_heads * head_size
    kv_width = sharding.key_value_heads * head_size
    repeated_kv_heads = ranks * sharding.key_value_heads - block.key_value_heads
    gate = 1 if block.mlp == "gated" else 0
    position_rows = parts.embedding.position_rows if parts.embedding else 0
    return {
        "ranks": ranks,
        "hidden": block.hidden_size,
        "heads": sharding.query_heads,
        "query_width": query_width,
        "kv_width": kv_width,
        "qkv_width": query_width + 2 * kv_width,
        "repeated_kv_width": repeated_kv_heads * head_size,
        "rotary_width": (sharding.query_heads + sharding.key_value_heads) * block.rotary_size,
        "repeated_rotary_width": repeated_kv_heads * block.rotary_size,
        "inner": sharding.feedforward_size,
        "gate": gate,
        "up_width": (1 + gate) * sharding.feedforward_size,
        "vocab": sharding.vocab_rows * ranks - sharding.padded_vocab_rows,
        "vocab_rows": sharding.vocab_rows,
        "position_rows": position_rows,
        "position_table": 1 if position_rows else 0,
        "norm_operations": 5 if block.norm == "layer_norm" else 4,
        "norm_vectors": 2 if block.norm == "layer_norm" else 1,
        "score_operations": 5 + (_ALIBI_OPERATIONS if block.position == "alibi" else 0),
        "activation_operations": _ACTIVATION_OPERATIONS[block.activation] + gate,
        "qkv_bias": 1 if "qkv" in block.biases else 0,
        "output_bias": 1 if "attention_output" in block.biases else 0,
        "mlp_bias": 1 if "mlp" in block.biases else 0,
        "head_bias": 1 if parts.head and parts.head.bias else 0,
    }
