"""The work of every component: the one place where a formula of operations, elements or messages stands.

Each line is what one tensor-parallel rank does for one block (or once, before and after the stack). The formulas are
those of the reference model (dense MHA, two-matrix MLP) and extend them to GQA, gates, biases, embedding and LM head,
so that a reference model gets the reference's figures from the same lines. Sizes are named in `symbols`. Left out:
the cos and sin tables of RoPE, sampling, and everything the host does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from ..ir.distributed import Scope
from ..ir.task import Collective, Unit
from .formula import NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRule:
    """One component. Quantities are formulas; elements unless operations."""

    component: str
    primitive: str
    unit: Unit
    source_layer: str
    after: tuple[str, ...]
    """Components whose results it needs; of alternatives "a|b", the first that the model has."""
    scope: Scope = "every"
    operations: str = NOTHING
    masked_operations: str = NOTHING
    weights: str = NOTHING
    read: str = NOTHING
    """Activations and KV cache; `weights` stands in it where they are read whole."""
    write: str = NOTHING
    message: str = NOTHING
    collective: Collective | None = None
    repeated_operations: str = NOTHING
    repeated_weights: str = NOTHING
    only_if: tuple[str, ...] = ()
    """Traits that a model must have for it: serial, parallel, rope, sharded (TP > 1), staged (PP > 1)."""


_norm = partial(
    ComponentRule,
    unit="vector",
    operations="norm_operations*tokens*hidden",
    weights="norm_vectors*hidden",
    read="tokens*hidden + weights",
    write="tokens*hidden",
    repeated_operations="(ranks - 1)*norm_operations*tokens*hidden",
    repeated_weights="(ranks - 1)*norm_vectors*hidden",
)

_residual_add = partial(
    ComponentRule,
    primitive="residual_add",
    unit="vector",
    operations="tokens*hidden",
    read="2*tokens*hidden",
    write="tokens*hidden",
    repeated_operations="(ranks - 1)*tokens*hidden",
)

_all_reduce = partial(ComponentRule, unit="network", message="tokens*hidden", collective="all_reduce")

EMBEDDING: Final = (
    ComponentRule(
        component="embedding",
        primitive="embedding",
        unit="vector",
        source_layer="embedding",
        scope="first",
        after=(),
        operations="position_table*tokens*hidden",
        weights="vocab_rows*hidden + position_rows*hidden",
        read="(1 + position_table)*tokens*hidden",
        write="tokens*hidden",
        repeated_operations="(ranks - 1)*position_table*tokens*hidden",
        repeated_weights="(ranks*vocab_rows - vocab)*hidden + (ranks - 1)*position_rows*hidden",
    ),
    _all_reduce(
        component="embedding_all_reduce",
        primitive="embedding_all_reduce",
        source_layer="embedding",
        scope="first",
        after=("embedding",),
        only_if=("sharded",),
    ),
)

BLOCK: Final = (
    _norm(
        component="input_norm",
        primitive="input_layernorm",
        source_layer="attention",
        after=("embedding_all_reduce|embedding",),
    ),
    ComponentRule(
        component="qkv_projection",
        primitive="attention_pre_projection",
        unit="matrix",
        source_layer="attention",
        after=("input_norm",),
        operations="2*tokens*hidden*qkv_width + qkv_bias*tokens*qkv_width",
        weights="hidden*qkv_width + qkv_bias*qkv_width",
        read="tokens*hidden + weights",
        write="tokens*qkv_width",
        repeated_operations="(2*hidden + qkv_bias)*tokens*repeated_kv_width*2",
        repeated_weights="(hidden + qkv_bias)*repeated_kv_width*2",
    ),
    ComponentRule(
        component="rope",
        primitive="attention_rope",
        unit="vector",
        source_layer="attention",
        after=("qkv_projection",),
        operations="6*tokens*rotary_width",
        read="tokens*rotary_width",
        write="tokens*rotary_width",
        repeated_operations="6*tokens*repeated_rotary_width",
        only_if=("rope",),
    ),
    ComponentRule(
        component="kv_save",
        primitive="attention_kv_cache_save",
        unit="vector",
        source_layer="attention",
        after=("rope|qkv_projection",),
        read="2*tokens*kv_width",
        write="2*tokens*kv_width",
    ),
    ComponentRule(
        component="attention_core",
        primitive="attention_core",
        unit="matrix",
        source_layer="attention",
        after=("kv_save",),
        operations="(4*query_width + score_operations*heads)*query_context",
        masked_operations="(4*query_width + score_operations*heads)*(query_context - causal_query_context)",
        read="tokens*query_width + 2*context*kv_width",
        write="tokens*query_width",
    ),
    ComponentRule(
        component="output_projection",
        primitive="attention_post_projection",
        unit="matrix",
        source_layer="attention",
        after=("attention_core",),
        operations="2*tokens*query_width*hidden + output_bias*tokens*hidden",
        weights="query_width*hidden + output_bias*hidden",
        read="tokens*query_width + weights",
        write="tokens*hidden",
        repeated_operations="(ranks - 1)*output_bias*tokens*hidden",
        repeated_weights="(ranks - 1)*output_bias*hidden",
    ),
    _all_reduce(
        component="attention_all_reduce",
        primitive="all_reduce",
        source_layer="attention",
        after=("output_projection",),
        only_if=("serial", "sharded"),
    ),
    _residual_add(
        component="attention_residual",
        source_layer="attention",
        after=("attention_all_reduce|output_projection",),
        only_if=("serial",),
    ),
    _norm(
        component="post_attention_norm",
        primitive="post_attention_layernorm",
        source_layer="mlp",
        after=("attention_residual",),
        only_if=("serial",),
    ),
    ComponentRule(
        component="mlp_up",
        primitive="mlp_up_projection",
        unit="matrix",
        source_layer="mlp",
        after=("post_attention_norm|input_norm",),
        operations="2*tokens*hidden*up_width + mlp_bias*tokens*up_width",
        weights="hidden*up_width + mlp_bias*up_width",
        read="tokens*hidden + weights",
        write="tokens*up_width",
    ),
    ComponentRule(
        component="mlp_activation",
        primitive="mlp_activation",
        unit="vector",
        source_layer="mlp",
        after=("mlp_up",),
        operations="activation_operations*tokens*inner",
        read="tokens*up_width",
        write="tokens*inner",
    ),
    ComponentRule(
        component="mlp_down",
        primitive="mlp_down_projection",
        unit="matrix",
        source_layer="mlp",
        after=("mlp_activation",),
        operations="2*tokens*inner*hidden + mlp_bias*tokens*hidden",
        weights="inner*hidden + mlp_bias*hidden",
        read="tokens*inner + weights",
        write="tokens*hidden",
        repeated_operations="(ranks - 1)*mlp_bias*tokens*hidden",
        repeated_weights="(ranks - 1)*mlp_bias*hidden",
    ),
    _residual_add(
        component="branch_add",
        source_layer="mlp",
        after=("output_projection", "mlp_down"),
        only_if=("parallel",),
    ),
    _all_reduce(
        component="mlp_all_reduce",
        primitive="all_reduce",
        source_layer="mlp",
        after=("branch_add|mlp_down",),
        only_if=("sharded",),
    ),
    _residual_add(
        component="mlp_residual",
        source_layer="mlp",
        after=("attention_residual", "mlp_all_reduce|branch_add|mlp_down"),
    ),
)

HOP: Final = ComponentRule(
    component="pipeline_send",
    primitive="pipeline_send",
    unit="network",
    source_layer="pipeline",
    scope="hop",
    after=("mlp_residual",),
    message="tokens*hidden",
    collective="point_to_point",
    only_if=("staged",),
)

HEAD: Final = (
    _norm(
        component="final_norm",
        primitive="final_layernorm",
        source_layer="head",
        scope="last",
        after=("pipeline_send|mlp_residual",),
    ),
    ComponentRule(
        component="lm_head",
        primitive="lm_head",
        unit="matrix",
        source_layer="head",
        scope="last",
        after=("final_norm",),
        operations="2*sequences*hidden*vocab_rows + head_bias*sequences*vocab_rows",
        weights="hidden*vocab_rows + head_bias*vocab_rows",
        read="sequences*hidden + weights",
        write="sequences*vocab_rows",
        repeated_operations="(2*hidden + head_bias)*sequences*(ranks*vocab_rows - vocab)",
        repeated_weights="(hidden + head_bias)*(ranks*vocab_rows - vocab)",
    ),
    ComponentRule(
        component="lm_head_all_gather",
        primitive="lm_head_all_gather",
        unit="network",
        source_layer="head",
        scope="last",
        after=("lm_head",),
        message="sequences*vocab_rows*ranks",
        collective="all_gather",
        only_if=("sharded",),
    ),
)
