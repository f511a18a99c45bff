"""Which kernel does a component, and of which shape, on one device.

A component's sizes and the step's statistics say it: a projection of m = tokens is a GEMM of the widths it is sharded
to, a norm goes row by row. Sums over sequences do for kernels that see tokens alone; attention takes the mean sequence
of the step, which is every sequence where all are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .activity import ComponentActivity


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel family and a shape: dimension to int or int64 array, of the points' shape."""

    family: str
    shape: Mapping[str, Any]


def kernel_of(component: ComponentActivity, statistics: Mapping[str, Any]) -> Kernel | None:
    """The kernel of a component; None for one that no family is known for."""
    if component.collective is not None:
        shape = {"message_bytes": component.message_bytes, "ranks": component.ranks}
        return Kernel(component.collective, shape)
    rule = _RULES.get(component.primitive)
    return None if rule is None else rule(component.sizes, statistics)


def _gemm(rows: str, columns: str, depth: str) -> Callable[[Mapping[str, int], Mapping[str, Any]], Kernel]:
    def rule(sizes: Mapping[str, int], statistics: Mapping[str, Any]) -> Kernel:
        return Kernel("gemm", {"m": statistics[rows], "n": sizes[columns], "k": sizes[depth]})

    return rule


def _row_wise(family: str, width: str, times: int = 1) -> Callable[[Mapping[str, int], Mapping[str, Any]], Kernel]:
    def rule(sizes: Mapping[str, int], statistics: Mapping[str, Any]) -> Kernel:
        return Kernel(family, {"rows": statistics["tokens"], "width": times * sizes[width]})

    return rule


def _norm(sizes: Mapping[str, int], statistics: Mapping[str, Any]) -> Kernel:
    family = "layer_norm" if sizes["norm_vectors"] == 2 else "rms_norm"
    return _row_wise(family, "hidden")(sizes, statistics)


def _activation(sizes: Mapping[str, int], statistics: Mapping[str, Any]) -> Kernel:
    gated = sizes["up_width"] == 2 * sizes["inner"]
    return _row_wise("gated_activation" if gated else "activation", "inner")(sizes, statistics)


def _attention(sizes: Mapping[str, int], statistics: Mapping[str, Any]) -> Kernel:
    batch, tokens, context = (np.asarray(statistics[name]) for name in ("sequences", "tokens", "context"))
    head_size = sizes["query_width"] // sizes["heads"]
    shape = {
        "batch": batch,
        "query_tokens": -(-tokens // batch),
        "context_tokens": -(-context // batch),
        "heads": sizes["heads"],
        "kv_heads": sizes["kv_width"] // head_size,
        "head_size": head_size,
    }
    decodes = bool(np.all(tokens == batch))
    return Kernel("attention_decode" if decodes else "attention_prefill", shape)


_RULES: Final[Mapping[str, Callable[[Mapping[str, int], Mapping[str, Any]], Kernel]]] = {
    "embedding": _row_wise("embedding", "hidden"),
    "input_layernorm": _norm,
    "attention_pre_projection": _gemm("tokens", "qkv_width", "hidden"),
    "attention_rope": _row_wise("rope", "rotary_width"),
    "attention_kv_cache_save": _row_wise("kv_save", "kv_width", times=2),
    "attention_core": _attention,
    "attention_post_projection": _gemm("tokens", "hidden", "query_width"),
    "residual_add": _row_wise("add", "hidden"),
    "post_attention_layernorm": _norm,
    "mlp_up_projection": _gemm("tokens", "up_width", "hidden"),
    "mlp_activation": _activation,
    "mlp_down_projection": _gemm("tokens", "hidden", "inner"),
    "final_layernorm": _norm,
    "lm_head": _gemm("sequences", "vocab_rows", "hidden"),
}
"""Primitive to what its kernel is."""
