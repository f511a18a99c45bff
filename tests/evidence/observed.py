"""Observation tables to test with, made row by row."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from blueprint_nb.errors import BlueprintError
from blueprint_nb.evidence import observation_frame

IDENTITY: dict[str, Any] = {
    "target": "a100",
    "component": "attn_pre_proj",
    "datatype": "float16",
    "software": "vidur",
    "seconds": 1e-5,
    "source": "vidur",
    "source_revision": "made for a test",
    "file_sha256": "0" * 64,
    "licence": "MIT",
}

SHAPES: dict[str, dict[str, Any]] = {
    "gemm": {"m": 1, "n": 4096, "k": 4096},
    "rope": {"rows": 1, "width": 4096},
    "embedding": {"rows": 1, "width": 4096, "vocab_rows": 32000},
    "kv_save": {"rows": 1, "width": 2048, "kv_heads": 8, "head_size": 128, "block_size": 16},
    "attention_decode": {
        "batch": 8, "query_tokens": 1, "context_tokens": 1025, "heads": 32, "kv_heads": 8, "head_size": 128,
    },
    "all_reduce": {"message_bytes": 8192, "ranks": 2},
    "host": {"batch": 8, "datatype": ""},
}  # fmt: skip


def observed(count: int = 1, *, family: str = "gemm", **changes: Any) -> pl.DataFrame:
    """`count` rows of a family, which differ in their record alone; or as the columns in `changes` say."""
    columns = {name: changes.pop(name) for name in list(changes) if isinstance(changes[name], list)}
    columns.setdefault("record", [f"made.csv:{line}" for line in range(2, count + 2)])
    return observation_frame(columns, **{**IDENTITY, "family": family, **SHAPES[family], **changes})


def sha(number: int) -> str:
    """A digest of a file that there is not."""
    return f"{number:064x}"


def refused(call: Callable[[], object]) -> str:
    """The message of the error of ours that `call` raises, which survives pickling."""
    with pytest.raises(BlueprintError) as caught:
        call()
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    return str(caught.value)
