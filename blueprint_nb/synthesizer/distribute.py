"""DistributeTransformerInferencePass: ModelIR + mapping -> DistributedTaskIR.

Megatron-style tensor parallelism: heads, MLP and vocabulary are divided over the ranks, norms and residuals repeated;
KV heads are replicated once there are more ranks than heads. Stages hold equal runs of consecutive blocks, the first
also the embedding, the last the final norm and LM head (with a copy of the table when tied to another stage's).
Source: Shoeybi et al. 2019, "Megatron-LM"; Narayanan et al. 2021, "Efficient large-scale language model training".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from ..ir.distributed import (
    DistributedBuffer,
    DistributedTask,
    DistributedTaskIR,
    Origin,
    Sharding,
    Stage,
    StageKind,
)
from ..ir.form import LinearForm
from ..ir.model_ir import BlockAttributes, ModelIR, ModelOperation
from ..mapping import TransformerInferenceMappingSpec
from .buffers import BUFFERS
from .components import BLOCK, EMBEDDING, HEAD, HOP, ComponentRule
from .formula import evaluate, names
from .legality import require_legal

QUANTITIES = (
    "operations",
    "masked_operations",
    "read",
    "write",
    "message",
    "repeated_operations",
    "repeated_weights",
)

_ACTIVATION_OPERATIONS = {"gelu": 8, "silu": 4, "relu": 1}
"""Operations an element: GELU as in the reference model; SiLU is exp, add, divide, multiply; ReLU a comparison."""

_ALIBI_OPERATIONS = 2
"""A slope times a distance, added to every score."""


@dataclass(frozen=True)
class DistributeTransformerInferencePass:
    """Spreads a model over ranks, stages and replicas."""

    mapping: TransformerInferenceMappingSpec

    def run(self, model: ModelIR) -> DistributedTaskIR:
        """The distributed model. Raises `InvalidInputError` where the mapping can't divide it."""
        return _distribute(model, self.mapping)


@lru_cache(maxsize=512)
def _distribute(model: ModelIR, mapping: TransformerInferenceMappingSpec) -> DistributedTaskIR:
    parts = _Parts(model)
    require_legal(parts.block, parts.stack.repeat, mapping)
    sharding = _sharding(parts, mapping.tensor_parallel)
    symbols = _symbols(parts, sharding, mapping.tensor_parallel)
    tasks = tuple(_tasks(parts, symbols, mapping))
    return DistributedTaskIR(
        model_digest=model.digest,
        tensor_parallel=mapping.tensor_parallel,
        pipeline_parallel=mapping.pipeline_parallel,
        replicas=mapping.replicas,
        sharding=sharding,
        stages=_stages(parts.stack.repeat, mapping.pipeline_parallel),
        tasks=tasks,
        buffers=tuple(_buffers(parts, symbols, tasks, mapping.pipeline_parallel)),
    )


class _Parts:
    """The operations of a ModelIR, by role."""

    def __init__(self, model: ModelIR) -> None:
        by_kind = {operation.kind: operation for operation in model.operations}
        self.stack = by_kind["transformer.decoder_inference"]
        self.block = cast(BlockAttributes, self.stack.block)
        self.embedding_operation = by_kind.get("transformer.embedding")
        self.embedding = self.embedding_operation.embedding if self.embedding_operation else None
        self.head_operation = by_kind.get("transformer.lm_head")
        self.head = self.head_operation.head if self.head_operation else None

    def rules(self) -> Iterator[tuple[ComponentRule, ModelOperation]]:
        """Every rule the model's operations stand for, in plan order."""
        if self.embedding_operation:
            yield from ((rule, self.embedding_operation) for rule in EMBEDDING)
        yield from ((rule, self.stack) for rule in (*BLOCK, HOP))
        if self.head_operation:
            yield from ((rule, self.head_operation) for rule in HEAD)


def _sharding(parts: _Parts, ranks: int) -> Sharding:
    block = parts.block
    vocab = parts.embedding.vocab_size if parts.embedding else 0
    vocab_rows = -(-vocab // ranks)
    return Sharding(
        query_heads=block.attention_heads // ranks,
        key_value_heads=max(1, block.key_value_heads // ranks),
        key_value_replication=max(1, ranks // block.key_value_heads),
        feedforward_size=block.feedforward_size // ranks,
        vocab_rows=vocab_rows,
        padded_vocab_rows=vocab_rows * ranks - vocab,
    )


def _stages(blocks: int, pipeline_parallel: int) -> tuple[Stage, ...]:
    each = blocks // pipeline_parallel
    return tuple(Stage(index=i, first_block=i * each, block_count=each) for i in range(pipeline_parallel))


def _tasks(
    parts: _Parts, symbols: dict[str, int], mapping: TransformerInferenceMappingSpec
) -> Iterator[DistributedTask]:
    traits = _traits(parts.block, mapping)
    executions = {"first": 1, "last": 1, "every": parts.stack.repeat, "hop": mapping.pipeline_parallel - 1}
    made: dict[str, str] = {}
    for rule, operation in parts.rules():
        if not traits.issuperset(rule.only_if):
            continue
        task_id = f"{operation.id}.{rule.component}"
        needs = (next((made[name] for name in need.split("|") if name in made), None) for need in rule.after)
        yield DistributedTask(
            id=task_id,
            component=rule.component,
            primitive=rule.primitive,
            source_layer=rule.source_layer,
            unit=rule.unit,
            scope=rule.scope,
            executions=executions[rule.scope],
            depends_on=tuple(need for need in needs if need),
            collective=rule.collective,
            ranks=_group(rule, mapping.tensor_parallel),
            **_forms(rule, symbols),
            origin=_origin(rule, operation, symbols),
        )
        made[rule.component] = task_id


def _group(rule: ComponentRule, tensor_parallel: int) -> int:
    if rule.collective is None:
        return 1
    return 2 if rule.collective == "point_to_point" else tensor_parallel


def _forms(rule: ComponentRule, symbols: dict[str, int]) -> dict[str, LinearForm]:
    weights = evaluate(rule.weights, symbols)
    known: dict[str, LinearForm | int] = {**symbols, "weights": weights}
    return {"weights": weights, **{name: evaluate(getattr(rule, name), known) for name in QUANTITIES}}


def _origin(rule: ComponentRule, operation: ModelOperation, symbols: dict[str, int]) -> Origin:
    formulas = {name: getattr(rule, name) for name in ("weights", *QUANTITIES) if getattr(rule, name) != "0"}
    used = set().union(*(names(formula) for formula in formulas.values())) & symbols.keys()
    return Origin(
        operation=operation.id,
        made_by=DistributeTransformerInferencePass.__name__,
        formulas=formulas,
        symbols={name: symbols[name] for name in sorted(used)},
    )


def _traits(block: BlockAttributes, mapping: TransformerInferenceMappingSpec) -> frozenset[str]:
    traits: set[str] = {block.residual, block.position}
    if mapping.tensor_parallel > 1:
        traits.add("sharded")
    if mapping.pipeline_parallel > 1:
        traits.add("staged")
    return frozenset(traits)


def _symbols(parts: _Parts, sharding: Sharding, ranks: int) -> dict[str, int]:
    block, head_size = parts.block, parts.block.attention_head_size
    query_width = sharding.query_heads * head_size
    kv_width = sharding.key_value_heads * head_size
    repeated_kv_heads = ranks * sharding.key_value_heads - block.key_value_heads
    gate = 1 if block.mlp == "gated" else 0
    position_rows = parts.embedding.position_rows if parts.embedding else 0
    return {
        "ranks": ranks,
        "hidden": block.hidden_size,
        "heads": sharding.query_heads,
        "query_width": query_width,
        "kv_width": kv_width,
        "qkv_width": query_width + 2 * kv_width,
        "repeated_kv_width": repeated_kv_heads * head_size,
        "rotary_width": (sharding.query_heads + sharding.key_value_heads) * block.rotary_size,
        "repeated_rotary_width": repeated_kv_heads * block.rotary_size,
        "inner": sharding.feedforward_size,
        "up_width": (1 + gate) * sharding.feedforward_size,
        "vocab": sharding.vocab_rows * ranks - sharding.padded_vocab_rows,
        "vocab_rows": sharding.vocab_rows,
        "position_rows": position_rows,
        "position_table": 1 if position_rows else 0,
        "norm_operations": 5 if block.norm == "layer_norm" else 4,
        "norm_vectors": 2 if block.norm == "layer_norm" else 1,
        "score_operations": 5 + (_ALIBI_OPERATIONS if block.position == "alibi" else 0),
        "activation_operations": _ACTIVATION_OPERATIONS[block.activation] + gate,
        "qkv_bias": 1 if "qkv" in block.biases else 0,
        "output_bias": 1 if "attention_output" in block.biases else 0,
        "mlp_bias": 1 if "mlp" in block.biases else 0,
        "head_bias": 1 if parts.head and parts.head.bias else 0,
    }


def _buffers(
    parts: _Parts, symbols: dict[str, int], tasks: tuple[DistributedTask, ...], stages: int
) -> Iterator[DistributedBuffer]:
    blocks = parts.stack.repeat // stages
    sizes = {**symbols, "blocks": blocks, "boundaries": 2 if stages > 1 else 1}
    for stage in _stage_kinds(stages):
        yield _weights(parts, tasks, stage, blocks)
        for rule in BUFFERS:
            if rule.at_head and (parts.head is None or stage not in ("last", "only")):
                continue
            yield DistributedBuffer(
                id=f"{stage}.{rule.name}",
                kind=rule.kind,
                stage=stage,
                elements=evaluate(rule.elements, sizes),
                transient=rule.transient,
                unfused_only=rule.unfused_only,
            )


def _stage_kinds(stages: int) -> tuple[StageKind, ...]:
    if stages <= 2:
        return ("only",) if stages == 1 else ("first", "last")
    return ("first", "inner", "last")


def _weights(parts: _Parts, tasks: tuple[DistributedTask, ...], stage: StageKind, blocks: int) -> DistributedBuffer:
    total = LinearForm()
    for task in tasks:
        if task.scope == "every":
            total += task.weights * blocks
        elif stage in (task.scope, "only") and not _is_shared(task, parts, stage):
            total += task.weights
    return DistributedBuffer(id=f"{stage}.weights", kind="weights", stage=stage, elements=total)


def _is_shared(task: DistributedTask, parts: _Parts, stage: StageKind) -> bool:
    return task.component == "lm_head" and stage == "only" and parts.head is not None and parts.head.tied_to is not None
