"""DistributedTaskIR: who does what, when a model is spread over tensor-parallel ranks, stages and replicas.

Every task is what one rank does, as integer forms in a step's statistics, so the IR holds for any phase, batch and
context. Element counts become bytes only when a plan binds a datatype.
"""

from __future__ import annotations

from typing import Literal

from .._canonical import Digested
from .._schema import Count, Index, Record
from .form import LinearForm
from .task import Buffer, Task, check_structure
from .text import columns, short

Scope = Literal["first", "every", "last", "hop"]


class DistributedTask(Task):
    """A task with its traffic in elements."""

    scope: Scope
    """Stages that run it: the first, every (once a block), the last, or the hop between two."""
    weights: LinearForm = LinearForm()
    """Elements held on the rank."""
    read: LinearForm = LinearForm()
    write: LinearForm = LinearForm()
    message: LinearForm = LinearForm()
    repeated_operations: LinearForm = LinearForm()
    """Over all ranks together, what is done beyond the unsharded model: replicated or padded."""
    repeated_weights: LinearForm = LinearForm()


class DistributedBuffer(Buffer):
    """A buffer in elements."""

    elements: LinearForm


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
        check_structure(self.tasks, self.buffers)

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
