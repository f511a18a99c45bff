"""Which kernel does a component, and of which shape, on one device.

A component's sizes and the step's statistics say it: a projection of m = tokens is a GEMM of the widths it is sharded
to, a norm goes row by row. Sums over sequences do for kernels that see tokens alone; attention takes the mean sequence
of the step, which is every sequence where all are alike. Which attention it is, is asked point by point: a prompt of
one token is a decode to the kernel.
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
    covers: Any = True
    """At which points it runs: a bool, or a bool array of their shape."""
    is_whole: Any = True
    """Where the shape is that of every sequence, as far as sums can tell: as `covers`."""


Rule = Callable[[Mapping[str, int], Mapping[str, Any]], tuple[Kernel, ...]]
"""From a component's sizes and the step's statistics."""

_ROW: Final = ("rows", "width")
_HEADS: Final = ("batch", "query_tokens", "context_tokens", "heads", "kv_heads", "head_size")
_MESSAGE: Final = ("message_bytes", "ranks")

DIMENSIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "gemm": ("m", "n", "k"),
    **dict.fromkeys(("rms_norm", "layer_norm", "gated_activation", "activation", "rope", "add"), _ROW),
    **dict.fromkeys(("embedding", "kv_save"), _ROW),
    **dict.fromkeys(("attention_decode", "attention_prefill"), _HEADS),
    **dict.fromkeys(("all_reduce", "all_gather", "point_to_point"), _MESSAGE),
    "host": ("batch", "ranks"),
}
"""Family to the names of its shape, for all families that a component can have."""


def kernels_of(component: ComponentActivity, statistics: Mapping[str, Any]) -> tuple[Kernel, ...]:
    """The kernels of a component, of which one runs at each point; none where no family is known."""
    if component.collective is not None:
        shape = {"message_bytes": component.message_bytes, "ranks": component.ranks}
        return (Kernel(component.collective, shape),)
    rule = _RULES.get(component.primitive)
    return () if rule is None else rule(component.sizes, statistics)


def _gemm(rows: str, columns: str, depth: str) -> Rule:
    def rule(sizes: Mapping[str, int], statistics: Mapping[str, Any]) -> tuple[Kernel, ...]:
        return (Kernel("gemm", {"m": statistics[rows], "n": sizes[columns], "k": sizes[depth]}),)

    return rule


def _row_wise(family: str, width: str, times: int = 1) -> Rule:
    def rule(sizes: Mapping[str, int], statistics: Mapping[str, Any]) -> tuple[Kernel, ...]:
        return (Kernel(family, {"rows": statistics["tokens"], "width": times * sizes[width]}),)

    return rule


def _norm(sizes: Mapping[str, int], statistics: Mapping[str, Any]) -> tuple[Kernel, ...]:
    family = "layer_norm" if sizes["norm_vectors"] == 2 else "rms_norm"
    return _row_wise(family, "hidden")(sizes, statistics)


def _activation(sizes: Mapping[str, int], statistics: Mapping[str, Any]) -> tuple[Kernel, ...]:
    gated = sizes["up_width"] == 2 * sizes["inner"]
    return _row_wise("gated_activation" if gated else "activation", "inner")(sizes, statistics)


def _host(sizes: Mapping[str, int], statistics: Mapping[str, Any]) -> tuple[Kernel, ...]:
    return (Kernel("host", {"batch": statistics["sequences"], "ranks": sizes["ranks"]}),)


def _attention(sizes: Mapping[str, int], statistics: Mapping[str, Any]) -> tuple[Kernel, ...]:
    batch, tokens, context = (np.asarray(statistics[name]) for name in ("sequences", "tokens", "context"))
    head_size = sizes["query_width"] // sizes["heads"]
    query = -(-tokens // batch)
    shape = {
        "batch": batch,
        "query_tokens": query,
        "context_tokens": -(-context // batch),
        "heads": sizes["heads"],
        "kv_heads": sizes["kv_width"] // head_size,
        "head_size": head_size,
    }
    is_whole = (tokens % batch == 0) & (context % batch == 0) & (query * context == statistics["query_context"])
    decodes = tokens == batch
    # One token that sees itself alone is either: the quicker kernel does it.
    prefills = ~decodes | (context == tokens)
    found = []
    for family, covers in (("attention_decode", decodes), ("attention_prefill", prefills)):
        if np.any(covers):
            found.append(Kernel(family, shape, True if np.all(covers) else covers, is_whole))
    return tuple(found)


_RULES: Final[Mapping[str, Rule]] = {
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
    "host_overhead": _host,
}
"""Primitive to what its kernel is."""
