"""Which operator of Vidur times which component, and which components none may stand for.

Source: facts about Vidur's profilers. `attn_pre_proj` is the fused QKV projection, `mlp_up_proj` gate and up together,
`add` the last residual add alone; in a block with parallel residuals it times both of its adds.
"""

from __future__ import annotations

from typing import Final

from ...errors import UnknownNameError, unknown_name
from ...evidence.vidur import OPERATORS
from .reference import Reason

_COMPUTE: Final = {
    "embedding": "emb",
    "input_norm": "input_layernorm",
    "qkv_projection": "attn_pre_proj",
    "rope": "attn_rope",
    "output_projection": "attn_post_proj",
    "post_attention_norm": "post_attention_layernorm",
    "mlp_up": "mlp_up_proj",
    "mlp_activation": "mlp_act",
    "mlp_down": "mlp_down_proj",
    "mlp_residual": "add",
}

_COLLECTIVES: Final = {
    "embedding_all_reduce": "all_reduce",
    "attention_all_reduce": "all_reduce",
    "mlp_all_reduce": "all_reduce",
    "pipeline_send": "send_recv",
}

_ONE_ADD: Final = Reason("refused by policy", "Vidur's one `add` stands for the last residual add only")

_BOTH_ADDS: Final = Reason(
    "refused by policy", "Vidur's `add` times both adds of a parallel block; look `add` itself up"
)

_UNTIMED: Final = Reason("no column", "Vidur does not time it")

NO_OPERATOR: Final = {
    "attention_residual": _ONE_ADD,
    "branch_add": _BOTH_ADDS,
    "final_norm": _UNTIMED,
    "lm_head": _UNTIMED,
    "lm_head_all_gather": _UNTIMED,
}
"""Components that no operator stands for by itself, and why."""

BOTH_ADDS: Final = ("branch_add", "mlp_residual")
"""The adds of a block with parallel residuals, of the same size, which `add` times together."""

_OPERATOR_OF: Final = {**_COMPUTE, **_COLLECTIVES, "kv_save": "attn_kv_cache_save"}

COMPONENT_OF: Final = {
    **{operator: component for component, operator in _COMPUTE.items()},
    "attn_kv_cache_save": "kv_save",
    "attn_prefill": "attention_core",
    "attn_decode": "attention_core",
    "all_reduce": "mlp_all_reduce",
    "send_recv": "pipeline_send",
}
"""Operator to a component it times."""


def operator_of(component: str, is_prefill: bool) -> str | None:
    """The operator that times `component`; None for one of `NO_OPERATOR`.

    `component` is a component's name or, as it stands in a file, an operator's. Raises `UnknownNameError`.
    """
    if not isinstance(component, str):
        raise _unknown(component)
    if component in OPERATORS:
        return component
    if component == "attention_core":
        return "attn_prefill" if is_prefill else "attn_decode"
    if component in NO_OPERATOR:
        return None
    if component not in _OPERATOR_OF:
        raise _unknown(component)
    return _OPERATOR_OF[component]


def name_of(component: str) -> str:
    """The component that is meant by its name or an operator's."""
    return COMPONENT_OF.get(component, component)


def _unknown(component: object) -> UnknownNameError:
    names = (*_COMPUTE, *_COLLECTIVES, *NO_OPERATOR, "attention_core", "kv_save", *OPERATORS)
    return unknown_name("component", component, names)
