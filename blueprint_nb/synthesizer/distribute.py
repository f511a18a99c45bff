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

from ..ir.distributed import DistributedTask, DistributedTaskIR, Stage
from ..ir.form import LinearForm
from ..ir.model_ir import BlockAttributes, ModelIR, ModelOperation
from ..ir.task import Origin
from ..mapping import TransformerInferenceMappingSpec
from .buffers import stage_buffers
from .components import ComponentRule
from .formula import NOTHING, evaluate, names
from .legality import require_legal
from .parts import ModelParts
from .sizes import formula_sizes, shard

QUANTITIES = (
    "operations",
    "masked_operations",
    "read",
    "write",
    "message",
    "repeated_operations",
    "repeated_weights",
)


@dataclass(frozen=True)
class DistributeTransformerInferencePass:
    """Spreads a model over ranks, stages and replicas."""

    mapping: TransformerInferenceMappingSpec

    def run(self, model: ModelIR) -> DistributedTaskIR:
        """The distributed model. Raises `InvalidInputError` where the mapping can't divide it."""
        return _distribute(model, self.mapping)


@lru_cache(maxsize=256)
def _distribute(model: ModelIR, mapping: TransformerInferenceMappingSpec) -> DistributedTaskIR:
    parts = ModelParts(model)
    require_legal(parts.block, parts.stack.repeat, mapping)
    sharding = shard(parts, mapping.tensor_parallel)
    symbols = formula_sizes(parts, sharding, mapping.tensor_parallel)
    tasks = tuple(_tasks(parts, symbols, mapping))
    return DistributedTaskIR(
        model_digest=model.digest,
        tensor_parallel=mapping.tensor_parallel,
        pipeline_parallel=mapping.pipeline_parallel,
        replicas=mapping.replicas,
        sharding=sharding,
        stages=_stages(parts.stack.repeat, mapping.pipeline_parallel),
        tasks=tasks,
        buffers=tuple(stage_buffers(parts, symbols, tasks, mapping.pipeline_parallel)),
    )


def _stages(blocks: int, pipeline_parallel: int) -> tuple[Stage, ...]:
    each = blocks // pipeline_parallel
    return tuple(Stage(index=i, first_block=i * each, block_count=each) for i in range(pipeline_parallel))


def _tasks(
    parts: ModelParts, symbols: dict[str, int], mapping: TransformerInferenceMappingSpec
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
    formulas = {name: getattr(rule, name) for name in ("weights", *QUANTITIES) if getattr(rule, name) != NOTHING}
    used = frozenset().union(*(names(formula) for formula in formulas.values())) & symbols.keys()
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
