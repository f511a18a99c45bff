"""DistributedTaskIR: who does what, when a model is spread over tensor-parallel ranks, stages and replicas.

Every task is what one rank does, as integer forms in a step's statistics, so the IR holds for any phase, batch and
context. Element counts become bytes only when a plan binds a datatype.
"""

from __future__ import annotations

from typing import Literal

from .._canonical import Digested
from .._schema import Count, Index, Record
from .form import LinearForm
from .text import columns, short
from .verify import check_order, check_unique

Unit = Literal["matrix", "vector", "network"]
Collective = Literal["all_reduce", "all_gather", "point_to_point"]
Scope = Literal["first", "every", "last", "hop"]
StageKind = Literal["first", "inner", "last", "only"]
BufferKind = Literal["weights", "kv_cache", "workspace", "boundary"]


class Origin(Record):
    """Where a task comes from: the model's operation, the pass, and the formulas it was made by."""

    operation: str
    """Id of the operation in ModelIR."""
    made_by: str
    """The pass."""
    formulas: dict[str, str]
    """Quantity to formula: operations, weights, read, write, message; elements unless operations."""
    symbols: dict[str, int]
    """Value of every name in the formulas that is not a statistic."""


class DistributedTask(Record):
    """What one rank does once, for each execution."""

    id: str
    component: str
    primitive: str
    source_layer: str
    unit: Unit
    scope: Scope
    """Stages that run it: the first, every (once a block), the last, or the hop between two."""
    executions: Count
    """In one step, over all stages."""
    depends_on: tuple[str, ...] = ()
    collective: Collective | None = None
    ranks: Count = 1
    operations: LinearForm = LinearForm()
    masked_operations: LinearForm = LinearForm()
    """Of `operations`, those on pairs that the causal mask hides: a kernel may skip them."""
    weights: LinearForm = LinearForm()
    """Elements held on the rank."""
    read: LinearForm = LinearForm()
    write: LinearForm = LinearForm()
    message: LinearForm = LinearForm()
    repeated_operations: LinearForm = LinearForm()
    """Over all ranks together, what is done beyond the unsharded model: replicated or padded."""
    repeated_weights: LinearForm = LinearForm()
    origin: Origin


class DistributedBuffer(Record):
    """Elements that one rank holds in a stage."""

    id: str
    kind: BufferKind
    stage: StageKind
    elements: LinearForm
    transient: bool = False
    """Transient buffers of one kind and stage are never live at the same time: the largest counts."""
    unfused_only: bool = False
    """Exists only where attention writes its score matrix to memory."""


class Stage(Record):
    """A pipeline stage: consecutive blocks on its own ranks."""

    index: Index
    first_block: Index
    block_count: Count


class Sharding(Record):
    """What one tensor-parallel rank holds of each divided dimension."""

    query_heads: Count
    key_value_heads: Count
    key_value_replication: Count
    """Ranks that hold the same KV head."""
    feedforward_size: Count
    vocab_rows: Index
    padded_vocab_rows: Index
    """Rows over all ranks that are only there to make the vocabulary divisible."""


class DistributedTaskIR(Digested):
    """A distributed model. Raises `IntegrityError` when malformed."""

    model_digest: str
    tensor_parallel: Count
    pipeline_parallel: Count
    replicas: Count
    sharding: Sharding
    stages: tuple[Stage, ...]
    tasks: tuple[DistributedTask, ...]
    buffers: tuple[DistributedBuffer, ...]

    def model_post_init(self, context: object) -> None:
        """Verify."""
        check_unique("tasks", [task.id for task in self.tasks])
        check_unique("components", [task.component for task in self.tasks])
        check_unique("buffers", [buffer.id for buffer in self.buffers])
        check_order("tasks", [(task.id, task.depends_on) for task in self.tasks])

    def task(self, component: str) -> DistributedTask:
        """The task of a component. Raises KeyError."""
        return {task.component: task for task in self.tasks}[component]

    def __str__(self) -> str:
        rows = [("task", "stages", "executions", "ranks", "operations", "weights, elements")]
        for task in self.tasks:
            operations, weights = (task.origin.formulas.get(name, "") for name in ("operations", "weights"))
            rows.append((task.id, task.scope, f"{task.executions:,}", f"{task.ranks:,}", operations, weights))
        layout = f"TP {self.tensor_parallel} × PP {self.pipeline_parallel} × {self.replicas} replicas"
        return f"DistributedTaskIR, {layout} ({short(self.digest)})\n{columns(rows, numeric_from=9)}"
