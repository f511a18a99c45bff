"""What tasks and buffers are, whether their sizes are counted in elements or in bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from .._schema import Count, Flag, Record
from .form import LinearForm
from .verify import check_order, check_unique

Unit = Literal["matrix", "vector", "network"]
Collective = Literal["all_reduce", "all_gather", "point_to_point"]
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


class Task(Record):
    """What one rank does once, for each execution."""

    id: str
    component: str
    primitive: str
    source_layer: str
    unit: Unit
    executions: Count
    """In one step, over all stages."""
    depends_on: tuple[str, ...] = ()
    collective: Collective | None = None
    ranks: Count = 1
    operations: LinearForm = LinearForm()
    masked_operations: LinearForm = LinearForm()
    """Of `operations`, those on pairs that the causal mask hides: a kernel may skip them."""
    origin: Origin


class Buffer(Record):
    """What one rank of a stage holds."""

    id: str
    kind: BufferKind
    stage: StageKind
    transient: Flag = False
    """Of the transient buffers of one kind and stage, only the largest counts: they are never live together."""
    unfused_only: Flag = False
    """Exists only where attention holds its score matrix in memory."""


Shared = TypeVar("Shared", Task, Buffer)


def shared_fields(record: Shared, kind: type[Shared]) -> dict[str, Any]:
    """The fields of `record` that every `kind` has."""
    return {name: getattr(record, name) for name in kind.model_fields}


def check_structure(tasks: Sequence[Task], buffers: Sequence[Buffer]) -> None:
    """Raises `IntegrityError` unless ids are unique and tasks come after all they depend on."""
    check_unique("tasks", [task.id for task in tasks])
    check_unique("components", [task.component for task in tasks])
    check_unique("buffers", [buffer.id for buffer in buffers])
    check_order("tasks", [(task.id, task.depends_on) for task in tasks])
