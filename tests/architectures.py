"""Models, mappings and steps to test with, and their size counted apart from the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from blueprint_nb.ir import BoundPlan, DistributedTaskIR, ModelIR, PortablePlanIR
from blueprint_nb.mapping import TransformerInferenceMappingSpec
from blueprint_nb.synthesizer import (
    DistributeTransformerInferencePass,
    ImplementationBinding,
    PlanTransformerInferencePass,
    build_model_ir,
)
from blueprint_nb.workload import SequenceGroup, TransformerModelSpec, WorkloadBinding

ELEMENT_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "float8": 1}
KERNELS = ("unfused", "flash", "paged")


@dataclass(frozen=True)
class Planned:
    """Every IR of one step, made pass by pass."""

    model: ModelIR
    distributed: DistributedTaskIR
    plan: PortablePlanIR
    bound: BoundPlan


def planned(
    model: TransformerModelSpec,
    workload: WorkloadBinding,
    *,
    tensor_parallel: int = 1,
    pipeline_parallel: int = 1,
    attention: str | None = None,
) -> Planned:
    """The IRs of a step; the attention kernel is the model's default unless given."""
    mapping = TransformerInferenceMappingSpec(tensor_parallel=tensor_parallel, pipeline_parallel=pipeline_parallel)
    model_ir = build_model_ir(model)
    distributed = DistributeTransformerInferencePass(mapping).run(model_ir)
    plan = PlanTransformerInferencePass(workload).run(distributed)
    kernel = attention or ("unfused" if model.template == "dense-mha" else "flash")
    return Planned(model_ir, distributed, plan, ImplementationBinding(attention=kernel).bind(plan))


def divisors(number: int) -> list[int]:
    return [size for size in range(1, number + 1) if number % size == 0]


def dense_mha(**fields: Any) -> TransformerModelSpec:
    """A small model of the reference template, with some fields changed."""
    base = {"hidden_size": 64, "feedforward_size": 256, "sequence_length": 4096, "block_count": 4}
    heads = {"attention_heads": 8, "attention_head_size": 8}
    return TransformerModelSpec(**{"name": "small", "template": "dense-mha", **base, **heads, **fields})


def decoder(**fields: Any) -> TransformerModelSpec:
    """A small whole model (GQA, gated, RMSNorm, RoPE), with some fields changed."""
    base = {
        "name": "small",
        "template": "decoder",
        "hidden_size": 64,
        "feedforward_size": 192,
        "sequence_length": 4096,
        "attention_heads": 8,
        "key_value_heads": 2,
        "attention_head_size": 16,
        "block_count": 4,
        "vocab_size": 1001,
        "mlp": "gated",
        "activation": "silu",
        "norm": "rms_norm",
        "residual": "serial",
        "position": "rope",
        "biases": frozenset(),
        "tied_embeddings": False,
    }
    return TransformerModelSpec(**{**base, **fields})


@st.composite
def dense_mhas(draw: st.DrawFn) -> TransformerModelSpec:
    heads = draw(st.integers(1, 12))
    head_size = draw(st.sampled_from([1, 8, 80, 128]))
    return dense_mha(
        attention_heads=heads,
        attention_head_size=head_size,
        hidden_size=heads * head_size,
        feedforward_size=heads * draw(st.integers(1, 400)),
        block_count=draw(st.sampled_from([1, 2, 6, 12])),
    )


@st.composite
def decoders(draw: st.DrawFn) -> TransformerModelSpec:
    """MHA, GQA and MQA, gated or plain, serial or parallel, any positions and biases, vocabularies of any size."""
    key_value_heads = draw(st.sampled_from([1, 2, 3, 4, 8]))
    heads = key_value_heads * draw(st.sampled_from([1, 2, 4, 6]))
    head_size = draw(st.sampled_from([2, 8, 64, 80]))
    position = draw(st.sampled_from(["rope", "learned", "alibi", "none"]))
    extra: dict[str, int] = {}
    if position == "rope" and draw(st.booleans()):
        extra["rotary_size"] = draw(st.integers(1, head_size))
    if position == "learned" and draw(st.booleans()):
        extra["position_rows"] = draw(st.integers(0, 5000))
    return decoder(
        hidden_size=draw(st.integers(1, 2000)),
        feedforward_size=heads * draw(st.integers(1, 100)),
        attention_heads=heads,
        key_value_heads=key_value_heads,
        attention_head_size=head_size,
        block_count=draw(st.sampled_from([1, 2, 6, 12])),
        vocab_size=draw(st.integers(1, 60_000)),
        mlp=draw(st.sampled_from(["plain", "gated"])),
        activation=draw(st.sampled_from(["gelu", "relu", "silu"])),
        norm=draw(st.sampled_from(["layer_norm", "rms_norm"])),
        residual=draw(st.sampled_from(["serial", "parallel"])),
        position=position,
        biases=frozenset(draw(st.sets(st.sampled_from(["qkv", "attention_output", "mlp", "lm_head"])))),
        tied_embeddings=draw(st.booleans()),
        **extra,
    )


def models() -> st.SearchStrategy[TransformerModelSpec]:
    return st.one_of(decoders(), dense_mhas())


def legal_tensor_parallel(model: TransformerModelSpec) -> list[int]:
    """Every TP that gives each rank whole query heads, whole KV heads (or whole copies) and equal MLP columns."""
    return [
        ranks
        for ranks in divisors(model.attention_heads)
        if model.feedforward_size % ranks == 0
        and (model.key_value_heads % ranks == 0 or ranks % model.key_value_heads == 0)
    ]


@st.composite
def mapped_models(
    draw: st.DrawFn, kinds: st.SearchStrategy[TransformerModelSpec] | None = None, most_ranks: int = 64
) -> tuple[TransformerModelSpec, int, int]:
    """(model, TP, PP), the mapping legal."""
    model = draw(models() if kinds is None else kinds)
    legal = [ranks for ranks in legal_tensor_parallel(model) if ranks <= most_ranks]
    return model, draw(st.sampled_from(legal)), draw(st.sampled_from(divisors(model.block_count)))


@st.composite
def workloads(draw: st.DrawFn, datatypes: tuple[str, ...] = tuple(ELEMENT_BYTES)) -> WorkloadBinding:
    """A prefill, a decode, a chunk, or a mixture of them."""
    groups = []
    for _ in range(draw(st.integers(1, 3))):
        context = draw(st.integers(1, 4096))
        query = draw(st.one_of(st.just(1), st.just(context), st.integers(1, context)))
        groups.append(SequenceGroup(query_tokens=query, context_tokens=context, count=draw(st.integers(1, 64))))
    return WorkloadBinding(groups=tuple(groups), datatype=draw(st.sampled_from(datatypes)))


def parameters(model: TransformerModelSpec) -> int:
    """Every weight of a model, matrix by matrix; tied ones once. The reference template has its blocks only."""
    blocks = model.block_count * rank_block_weights(model, 1)
    if model.template == "dense-mha":
        return blocks
    assert model.vocab_size is not None
    h, vocab = model.hidden_size, model.vocab_size
    tables = vocab * h if model.tied_embeddings else 2 * vocab * h
    return blocks + tables + position_rows(model) * h + norm_weights(model) + vocab * ("lm_head" in model.biases)


def norm_weights(model: TransformerModelSpec) -> int:
    return model.hidden_size * (2 if model.norm == "layer_norm" else 1)


def position_rows(model: TransformerModelSpec) -> int:
    if model.position != "learned":
        return 0
    return model.sequence_length if model.position_rows is None else model.position_rows


def rank_block_weights(model: TransformerModelSpec, ranks: int) -> int:
    """Weights of one block on one of some ranks."""
    h, biases = model.hidden_size, model.biases
    query = model.attention_heads // ranks * model.attention_head_size
    qkv = query + 2 * max(1, model.key_value_heads // ranks) * model.attention_head_size
    inner = model.feedforward_size // ranks
    up = inner * (2 if model.mlp == "gated" else 1)
    attention = h * qkv + query * h + qkv * ("qkv" in biases) + h * ("attention_output" in biases)
    mlp = h * up + inner * h + (up + h) * ("mlp" in biases)
    return attention + mlp + norm_weights(model) * (1 if model.residual == "parallel" else 2)


def device_bytes(
    model: TransformerModelSpec,
    *,
    tensor_parallel: int,
    pipeline_parallel: int,
    batch: int,
    query: int,
    context: int,
    element: int,
    unfused: bool,
) -> dict[str, int]:
    """Bytes of each part on the fullest device of a step, from the architecture alone (paging apart)."""
    ranks, stages = tensor_parallel, pipeline_parallel
    h, tokens, blocks = model.hidden_size, batch * query, model.block_count // stages
    heads = model.attention_heads // ranks
    key_value = max(1, model.key_value_heads // ranks) * model.attention_head_size
    # Gate, up and what the activation makes of them are held at once.
    up = model.feedforward_size // ranks * (3 if model.mlp == "gated" else 1)
    largest = max(tokens * (heads * model.attention_head_size + 2 * key_value), tokens * up)
    if unfused:
        largest = max(largest, batch * heads * query * context)
    fullest: dict[str, int] = {}
    for stage in range(stages):
        weights, biggest = blocks * rank_block_weights(model, ranks), largest
        if model.template == "decoder":
            assert model.vocab_size is not None
            rows = -(-model.vocab_size // ranks)
            if stage == 0:
                weights += rows * h + position_rows(model) * h
            if stage == stages - 1:
                table = 0 if model.tied_embeddings and stages == 1 else rows * h
                weights += table + norm_weights(model) + rows * ("lm_head" in model.biases)
                biggest = max(biggest, batch * rows * ranks)
        parts = {
            "weights_bytes": weights * element,
            "kv_cache_bytes": 2 * blocks * batch * context * key_value * element,
            "workspace_bytes": (tokens * h + biggest) * element,
            "buffers_bytes": tokens * h * element * (2 if stages > 1 else 1),
        }
        if not fullest or sum(parts.values()) > sum(fullest.values()):
            fullest = parts
    return {**fullest, "total_bytes": sum(fullest.values())}
