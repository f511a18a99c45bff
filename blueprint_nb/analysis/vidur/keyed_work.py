"""The work behind a row of a profile file, by the engine's own formulas, so that its time can be judged."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ...catalog import load_system, system_names
from ...cost import ComponentActivity, template_activity
from ...errors import BlueprintError
from ...evidence.vidur import DATATYPE, TENSOR_PARALLEL
from ...ir import BoundTemplate
from ...mapping import TransformerInferenceMappingSpec
from ...system import SystemProfile
from ...workload import TransformerModelSpec, step_statistics
from ..lowering import lower
from .names import NETWORKS, SYSTEMS, stands_for


def hardware_system(hardware_name: str) -> SystemProfile | None:
    """The first system that a hardware's or a network's name may stand for; None where the project has none."""
    names = (*stands_for(hardware_name, SYSTEMS), *stands_for(hardware_name, NETWORKS))
    known = (name for name in names if name in system_names())
    return next((load_system(name) for name in known), None)


def keyed_activity(component: str, key: Mapping[str, Any]) -> ComponentActivity | None:
    """What `component` does at a file's dimensions; None where the key says too little, or no block has them."""
    if "size" in key:
        return _message(component, key)
    heads = key.get("n_head", key.get("n_q_head"))
    hidden, kv_heads = key.get("n_embd"), key.get("n_kv_head", heads)
    tokens = key.get("num_tokens", _attention_tokens(key))
    if not (hidden and heads and tokens):
        return None
    template = _template(
        hidden, key.get("n_expanded_embd", hidden), heads, kv_heads, bool(key.get("use_gated_mlp", False)),
        key.get("vocab_size", 1), key.get(TENSOR_PARALLEL, 1),
    )  # fmt: skip
    if template is None:
        return None
    count = key.get("batch_size", 1)
    query = tokens // count
    statistics = step_statistics(query, key.get("kv_cache_size", 0) + query, count)
    activity = template_activity(template, statistics)
    return next((one for one in activity.components if one.component == component), None)


def _attention_tokens(key: Mapping[str, Any]) -> int:
    count: int = key.get("batch_size", 0)
    return count * (key.get("prefill_chunk_size", 1) if key.get("is_prefill") else 1)


@lru_cache(maxsize=256)
def _template(
    hidden: int, inner: int, heads: int, kv_heads: int, gated: bool, vocab: int, ranks: int
) -> BoundTemplate | None:
    try:
        model = TransformerModelSpec(
            name="a row",
            template="decoder",
            hidden_size=hidden,
            feedforward_size=inner,
            sequence_length=1,
            attention_heads=heads,
            key_value_heads=kv_heads,
            attention_head_size=max(1, hidden // heads),
            block_count=1,
            vocab_size=vocab,
            mlp="gated" if gated else "plain",
            activation="silu" if gated else "gelu",
            norm="rms_norm",
            residual="serial",
            position="rope",
            biases=frozenset(),
            tied_embeddings=False,
        )
        return lower(model, TransformerInferenceMappingSpec(tensor_parallel=ranks), DATATYPE, "flash").bound
    except BlueprintError:
        return None


def _message(component: str, key: Mapping[str, Any]) -> ComponentActivity:
    hop = component == "pipeline_send"
    return ComponentActivity(
        component=component,
        primitive=component,
        source_layer="",
        unit="network",
        executions=1,
        collective="point_to_point" if hop else "all_reduce",
        ranks=key.get("num_workers", 2),
        operations=0,
        read_bytes=0,
        write_bytes=0,
        message_bytes=key["size"],
    )
