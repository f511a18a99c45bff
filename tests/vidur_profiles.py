"""Vidur profile files to test with, made row by row."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from blueprint_nb.analysis import VidurProfileBaseline
from blueprint_nb.catalog import load_model, load_system
from blueprint_nb.mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from blueprint_nb.validation import VidurExperimentCase

COMPUTE = {
    "n_embd": 4096,
    "n_expanded_embd": 11008,
    "n_head": 32,
    "n_kv_head": 32,
    "vocab_size": 32000,
    "use_gated_mlp": True,
    "num_tensor_parallel_workers": 1,
    "num_tokens": 1,
}
"""A row of Llama-2-7b's compute file, one token."""

ATTENTION = {
    "n_embd": 4096,
    "n_q_head": 32,
    "n_kv_head": 32,
    "block_size": 16,
    "num_tensor_parallel_workers": 1,
    "max_model_len": 4096,
    "batch_size": 1,
    "prefill_chunk_size": 0,
    "kv_cache_size": 128,
    "is_prefill": False,
    "attention_backend": "AttentionBackend.FLASH_ATTENTION",
}
"""A row of Llama-2-7b's attention file, a decode step at context 129."""

MESSAGE = {"size": 8192, "num_workers": 2, "devices_per_node": 2, "rank": 0, "collective": "all_reduce"}

SERIAL = ("input_layernorm", "post_attention_layernorm", "add", "mlp_act", "attn_rope")


def times(*operators: str, ms: float = 0.01) -> dict[str, Any]:
    """The median column of each operator, all with one time."""
    return {f"time_stats.{operator}.median": ms for operator in operators}


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """A CSV file with every column that any row has, in order of appearance; cells that a row lacks are empty."""
    rows = list(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def decodes(contexts: Iterable[int], **changes: Any) -> list[dict[str, Any]]:
    """Rows of Llama-2-7b's attention file: a decode step at each of the visible `contexts`."""
    timed = {**ATTENTION, **times("attn_decode"), **changes}
    return [{**timed, "kv_cache_size": context - 1} for context in contexts]


def baseline(**changes: Any) -> VidurProfileBaseline:
    """A baseline of Llama-2-7b on an A100, from the files in `changes`."""
    identity = {
        "model_name": "meta-llama/Llama-2-7b-hf",
        "hardware_name": "a100",
        "attention_backend": "FLASH_ATTENTION",
        "block_size": 16,
        "source_revision": "made for a test",
    }
    return VidurProfileBaseline.from_csv(**{**identity, **changes})


def case(name: str = "case", **changes: Any) -> VidurExperimentCase:
    """A decode step of Llama-2-7b at context 129 on an A100."""
    values = {
        "name": name,
        "model": "llama-2-7b",
        "mapping": TransformerInferenceMappingSpec(),
        "network_binding": NetworkTierBinding(),
        "datatype": "float16",
        "hardware": "a100_80g",
        "phase": "decode",
        "batch_size": 1,
        "context_tokens": 129,
        **changes,
    }
    return VidurExperimentCase(
        **{**values, "model": load_model(values["model"]), "hardware": load_system(values["hardware"])}
    )


def mapped(tensor_parallel: int, pipeline_parallel: int = 1) -> TransformerInferenceMappingSpec:
    """A mapping of one replica."""
    return TransformerInferenceMappingSpec(tensor_parallel=tensor_parallel, pipeline_parallel=pipeline_parallel)
