"""The work behind each time of a Vidur profile, for one rank: family and shape, from the file's own key columns.

With Hq and Hkv heads of h/Hq elements, hidden size h, MLP size f and TP ranks: the fused QKV projection is
m × (Hq/TP + 2·KV)·h/Hq × h, gate and up together m × 2f/TP × h, where a rank keeps KV = max(1, Hkv/TP) heads. The
source is how Vidur's profilers build their layers. Left out: biases, which the files don't tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import TENSOR_PARALLEL

__all__ = ["Work", "attention_work", "collective_work", "compute_work", "misfits"]

Integers = NDArray[np.int64]
Keys = Mapping[str, Any]

_MOST_TOKENS: Final = 10**12


class Work(NamedTuple):
    """What an operator does, an element a row of the file."""

    family: Any
    """Text, or an object array of it."""
    shape: dict[str, Integers]


@dataclass(frozen=True, slots=True)
class _Heads:
    """Of one rank."""

    query: Integers
    kept: Integers
    """Key and value heads; every rank has one at least, so that they repeat where TP exceeds them."""
    size: Integers

    @property
    def query_width(self) -> Integers:
        return self.query * self.size

    @property
    def kept_width(self) -> Integers:
        return self.kept * self.size


def misfits(keys: Keys) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Rules that the dimensions of a model and its TP have to keep, and which rows break each."""
    head = "n_head" if "n_head" in keys else "n_q_head"
    ranks, heads, kept = keys[TENSOR_PARALLEL], keys[head], keys["n_kv_head"]
    yield f"n_embd must be a multiple of {head}", keys["n_embd"] % heads != 0
    yield f"{head} must be a multiple of n_kv_head", heads % kept != 0
    yield f"{head} must be a multiple of {TENSOR_PARALLEL}", heads % ranks != 0
    yield f"n_kv_head must be a multiple or a divisor of {TENSOR_PARALLEL}", (kept % ranks != 0) & (ranks % kept != 0)
    if "n_expanded_embd" in keys:
        yield f"n_expanded_embd must be a multiple of {TENSOR_PARALLEL}", keys["n_expanded_embd"] % ranks != 0
    if "is_prefill" in keys:
        without = (keys["is_prefill"] == 1) & (keys["prefill_chunk_size"] == 0)
        yield "prefill_chunk_size must be at least 1 in a prefill", without
        tokens = keys["batch_size"].astype(np.float64) * keys["prefill_chunk_size"]
        yield f"a step must have at most {_MOST_TOKENS:,} tokens", tokens > _MOST_TOKENS


def compute_work(keys: Keys, norm: str) -> dict[str, Work]:
    """Operator to work, for rows that fit. `norm` is the family of both norms."""
    tokens, hidden, ranks = keys["num_tokens"], keys["n_embd"], keys[TENSOR_PARALLEL]
    inner = keys["n_expanded_embd"] // ranks
    gated = keys["use_gated_mlp"]
    heads = _heads(keys, "n_head")
    qkv_width = heads.query_width + 2 * heads.kept_width
    # The last rank's rows of the table are padded, so that every rank has as many.
    table_rows = -(-keys["vocab_size"] // ranks)
    return {
        "emb": Work("embedding", {"rows": tokens, "width": hidden, "vocab_rows": table_rows}),
        "input_layernorm": _row_wise(norm, tokens, hidden),
        "attn_pre_proj": _gemm(tokens, qkv_width, hidden),
        "attn_rope": _row_wise("rope", tokens, heads.query_width + heads.kept_width),
        "attn_post_proj": _gemm(tokens, hidden, heads.query_width),
        "post_attention_layernorm": _row_wise(norm, tokens, hidden),
        "mlp_up_proj": _gemm(tokens, inner * (1 + gated), hidden),
        "mlp_act": _row_wise(np.where(gated == 1, "gated_activation", "activation"), tokens, inner),
        "mlp_down_proj": _gemm(tokens, hidden, inner),
        "add": _row_wise("add", tokens, hidden),
    }


def attention_work(keys: Keys) -> dict[str, Work]:
    """Operator to work, for rows that fit. `kv_cache_size` is what was there before the step."""
    heads = _heads(keys, "n_q_head")
    query = np.where(keys["is_prefill"] == 1, keys["prefill_chunk_size"], 1)
    of_cache = {"kv_heads": heads.kept, "head_size": heads.size}
    if "block_size" in keys:
        of_cache["block_size"] = keys["block_size"]
    step = {"batch": keys["batch_size"], "query_tokens": query, "context_tokens": keys["kv_cache_size"] + query}
    return {
        "attn_kv_cache_save": Work(
            "kv_save", {"rows": keys["batch_size"] * query, "width": 2 * heads.kept_width, **of_cache}
        ),
        "attn_prefill": Work("attention_prefill", {**step, "heads": heads.query, **of_cache}),
        "attn_decode": Work("attention_decode", {**step, "heads": heads.query, **of_cache}),
    }


def collective_work(keys: Keys) -> dict[str, Work]:
    """Operator to work. Messages are in bytes already."""
    shape = {"message_bytes": keys["size"], "ranks": keys["num_workers"]}
    if "devices_per_node" in keys:
        shape["devices_per_node"] = keys["devices_per_node"]
    return {"all_reduce": Work("all_reduce", shape), "send_recv": Work("point_to_point", shape)}


def _heads(keys: Keys, query_heads: str) -> _Heads:
    heads, ranks = keys[query_heads], keys[TENSOR_PARALLEL]
    return _Heads(heads // ranks, np.maximum(keys["n_kv_head"] // ranks, 1), keys["n_embd"] // heads)


def _gemm(rows: Integers, columns: Integers, inner: Integers) -> Work:
    return Work("gemm", {"m": rows, "n": columns, "k": inner})


def _row_wise(family: Any, rows: Integers, width: Integers) -> Work:
    return Work(family, {"rows": rows, "width": width})
