"""PortablePlanIR: the exact operations, bytes, messages and buffers of one step, and no time.

A template holds every quantity as a form; a plan is a template and a workload, and its quantities are the forms at the
workload's statistics. A sweep evaluates the same template on arrays, so its integers are the plan's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple, Self

from .._canonical import Digested, canonical_json, content
from .._schema import Record
from ..errors import BlueprintError, IntegrityError, shown
from ..workload import WorkloadBinding
from .form import LinearForm, check_int64, require_int64
from .packing import packed_digest
from .task import Buffer, Task, check_structure
from .text import columns, short


class PlanTask(Task):
    """A task with its traffic in bytes."""

    read_bytes: LinearForm = LinearForm()
    write_bytes: LinearForm = LinearForm()
    message_bytes: LinearForm = LinearForm()


class PlanBuffer(Buffer):
    """A buffer in bytes."""

    bytes: LinearForm


class TaskWork(NamedTuple):
    """A task's quantities at one step: ints, or int64 arrays over many."""

    operations: Any
    masked_operations: Any
    read_bytes: Any
    write_bytes: Any
    message_bytes: Any


class Template(Digested):
    """Tasks and buffers as forms. Raises `IntegrityError` when malformed."""

    datatype: str
    tasks: tuple[PlanTask, ...]
    buffers: tuple[PlanBuffer, ...]

    @property
    def kv_block_tokens(self) -> int:
        """Tokens in a block of the KV cache."""
        return 1

    def model_post_init(self, context: object) -> None:
        """Verify."""
        check_structure(self.tasks, self.buffers)

    def check_int64(self, largest: dict[str, int]) -> None:
        """Raises `InvalidInputError` if a quantity, a task's traffic or a stage's memory may pass 2^63.

        That is where no statistic passes its `largest`.
        """
        for task in self.tasks:
            forms = ((name, getattr(task, name)) for name in TaskWork._fields)
            bounds = {name: check_int64(form, largest, f"{task.component}.{name}") for name, form in forms}
            require_int64(bounds["read_bytes"] + bounds["write_bytes"], f"{task.component}.read_bytes + write_bytes")
        held: dict[str, int] = {}
        for buffer in self.buffers:
            size = check_int64(buffer.bytes, largest, f"{buffer.id}.bytes")
            held[buffer.stage] = held.get(buffer.stage, 0) + size
            require_int64(held[buffer.stage], f"{buffer.stage}.bytes")

    def work(self, statistics: dict[str, Any]) -> list[TaskWork]:
        """Quantities of each task, in plan order."""
        return [TaskWork(*(getattr(task, name).at(statistics) for name in TaskWork._fields)) for task in self.tasks]

    def buffer_bytes(self, statistics: dict[str, Any]) -> list[Any]:
        """Bytes of each buffer, in order."""
        return [buffer.bytes.at(statistics) for buffer in self.buffers]

    def quantities(self, groups: Iterable[tuple[Any, Any, Any]], statistics: dict[str, Any]) -> list[Any]:
        """Everything a workload binds, as a plan's digest packs it: groups (q, c, count), work, buffers."""
        work = (value for task in self.work(statistics) for value in task)
        return [*(size for group in groups for size in group), *work, *self.buffer_bytes(statistics)]


class PlanTemplate(Template):
    """What all portable plans of a distributed model in one datatype share."""

    distributed_digest: str


class BoundWorkload(Record):
    """A template at a workload: what portable and bound plans have in common."""

    template: Template
    workload: WorkloadBinding

    def model_post_init(self, context: object) -> None:
        """Verify."""
        if self.workload.datatype != self.template.datatype:
            raise IntegrityError(
                "workload.datatype",
                got=self.workload.datatype,
                rule=f"must be the template's, {self.template.datatype}",
            )
        self.template.check_int64(self.statistics)

    @cached_property
    def statistics(self) -> dict[str, int]:
        """The step's statistics."""
        return self.workload.statistics(self.template.kv_block_tokens)

    @cached_property
    def work(self) -> tuple[TaskWork, ...]:
        """Exact quantities of each task, in the order of `template.tasks`."""
        return tuple(self.template.work(self.statistics))

    @cached_property
    def buffer_bytes(self) -> tuple[int, ...]:
        """Exact bytes of each buffer, in the order of `template.buffers`."""
        return tuple(self.template.buffer_bytes(self.statistics))

    @property
    def phase(self) -> str:
        """prefill, decode or mixed."""
        return self.workload.phase

    @cached_property
    def digest(self) -> str:
        """Of the template and the packed quantities (see `packing`)."""
        groups = [(group.query_tokens, group.context_tokens, group.count) for group in self.workload.groups]
        return packed_digest(self.template.digest, self.template.quantities(groups, self.statistics))

    def task(self, component: str) -> tuple[PlanTask, TaskWork]:
        """A component's task, with its origin, and its quantities. Raises KeyError."""
        return {task.component: (task, work) for task, work in zip(self.template.tasks, self.work, strict=True)}[
            component
        ]

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("task", "executions", "operations", "read B", "write B", "message B")]
        for task, work in zip(self.template.tasks, self.work, strict=True):
            figures = (task.executions, work.operations, work.read_bytes, work.write_bytes, work.message_bytes)
            rows.append((task.id, *(f"{figure:,}" for figure in figures)))
        held = [("buffer", "B")]
        held += [(b.id, f"{size:,}") for b, size in zip(self.template.buffers, self.buffer_bytes, strict=True)]
        groups = ", ".join(f"{g.count} × (q {g.query_tokens:,}, c {g.context_tokens:,})" for g in self.workload.groups)
        title = f"{type(self).__name__}, {self.phase} of {groups} in {self.template.datatype} ({short(self.digest)})"
        return f"{title}\n{columns(rows)}\n{columns(held)}"

    def to_json(self) -> str:
        """Canonical JSON: content, the bound integers task by task, and the digest."""
        work = {t.id: w._asdict() for t, w in zip(self.template.tasks, self.work, strict=True)}
        held = {b.id: size for b, size in zip(self.template.buffers, self.buffer_bytes, strict=True)}
        bound = {"work": work, "buffer_bytes": held, "phase": self.phase, "digest": self.digest}
        return canonical_json({**content(self), "bound": bound})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The plan that `to_json` wrote, equal to it. Raises `IntegrityError` if a change made it another plan."""
        try:
            data = json.loads(text)
            claimed = data.pop("bound")
            plan = cls(**data)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            reason = str(error).rstrip(".") if isinstance(error, BlueprintError) else shown(str(error))
            raise IntegrityError("plan", rule=f"can't be read: {reason}", next_step="Export it again.") from None
        if json.loads(plan.to_json())["bound"] != claimed:
            raise IntegrityError(
                "plan.digest",
                got=shown(claimed.get("digest") if isinstance(claimed, dict) else claimed),
                rule=f"must be that of its content, {plan.digest}",
                next_step="The plan was changed after it was written: export it again.",
            )
        return plan


class PortablePlanIR(BoundWorkload):
    """The plan of one step, whatever machine and kernels run it."""

    template: PlanTemplate
