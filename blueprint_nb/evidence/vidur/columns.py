"""The columns of Vidur's profile files: which are keys, which are times, and what versions call them.

Source: the profilers of microsoft/vidur (MIT), and files of several of its revisions. A time is a column
`time_stats.<operator>.median`, in milliseconds. Left out: the columns of minimum, maximum, mean and deviation, and
those that describe how a file was made (`profile_method`, `rank`, an index without a name).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

KeyType = Literal["count", "index", "flag", "backend"]


@dataclass(frozen=True, slots=True)
class Key:
    """A column that says what was measured."""

    name: str
    kind: KeyType
    """`count`: an integer ≥ 1. `index`: an integer ≥ 0. `flag`: true or false. `backend`: text, an enum's member."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """One kind of profile file."""

    name: str
    keys: tuple[Key, ...]
    operators: tuple[str, ...]
    """Names of what is timed, as the oldest version says them."""


DATATYPE: Final = "float16"
"""Of all of Vidur's profiles."""

TENSOR_PARALLEL: Final = "num_tensor_parallel_workers"

_TENSOR_PARALLEL: Final = Key(TENSOR_PARALLEL, "count")

_COLLECTIVE_KEYS: Final = (Key("size", "count"), Key("num_workers", "count"), Key("devices_per_node", "count"))

KINDS: Final = {
    kind.name: kind
    for kind in (
        FileKind(
            "compute",
            (
                Key("n_embd", "count"),
                Key("n_expanded_embd", "count"),
                Key("n_head", "count"),
                Key("n_kv_head", "count"),
                Key("vocab_size", "count"),
                Key("use_gated_mlp", "flag"),
                _TENSOR_PARALLEL,
                Key("num_tokens", "count"),
            ),
            (
                "emb",
                "input_layernorm",
                "attn_pre_proj",
                "attn_rope",
                "attn_post_proj",
                "post_attention_layernorm",
                "mlp_up_proj",
                "mlp_act",
                "mlp_down_proj",
                "add",
            ),
        ),
        FileKind(
            "attention",
            (
                Key("n_embd", "count"),
                Key("n_q_head", "count"),
                Key("n_kv_head", "count"),
                Key("block_size", "count"),
                _TENSOR_PARALLEL,
                Key("max_model_len", "count"),
                Key("batch_size", "count"),
                Key("prefill_chunk_size", "index"),
                Key("kv_cache_size", "index"),
                Key("is_prefill", "flag"),
                Key("attention_backend", "backend"),
            ),
            ("attn_kv_cache_save", "attn_prefill", "attn_decode"),
        ),
        FileKind("all_reduce", _COLLECTIVE_KEYS, ("all_reduce",)),
        FileKind("send_recv", _COLLECTIVE_KEYS, ("send_recv",)),
    )
}

OPERATORS: Final = {operator: kind.name for kind in KINDS.values() for operator in kind.operators}
"""Operator to the kind of file that times it."""

PHASE_OF: Final = {
    "attn_prefill": True,
    "attn_decode": False,
    "attn_kv_cache_save_prefill": True,
    "attn_kv_cache_save_decode": False,
}
"""Time columns that hold for rows of one `is_prefill` only; elsewhere a cell means nothing, be it empty or 0.0."""

RENAMED: Final = {
    "attn_kv_cache_save_prefill": "attn_kv_cache_save",
    "attn_kv_cache_save_decode": "attn_kv_cache_save",
}
"""Newer name of a time column to the oldest one."""
