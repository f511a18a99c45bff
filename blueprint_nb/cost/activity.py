"""Activity: what a bound plan makes a machine do, component by component, before anybody says how long it takes.

Operations by unit, bytes by memory, messages by network role. Seconds read it today; joules and money will read the
same. Quantities are exact: ints for one plan, int64 arrays for many points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..ir.bound import BoundPlan, BoundTemplate
from ..ir.plan import PlanTask, TaskWork
from ..ir.task import Collective, Unit


@dataclass(frozen=True, slots=True)
class ComponentActivity:
    """One component's activity on one device, for each execution."""

    component: str
    primitive: str
    source_layer: str
    unit: Unit
    executions: int
    collective: Collective | None
    ranks: int
    operations: Any
    read_bytes: Any
    write_bytes: Any
    message_bytes: Any


@dataclass(frozen=True, slots=True)
class Activity:
    """A step's activity, in plan order. Arrays of its components broadcast to one shape of points."""

    datatype: str
    components: tuple[ComponentActivity, ...]


def plan_activity(plan: BoundPlan) -> Activity:
    """Activity of one plan, as ints."""
    pairs = zip(plan.template.tasks, plan.work, strict=True)
    return Activity(plan.template.datatype, tuple(_component(task, work) for task, work in pairs))


def template_activity(template: BoundTemplate, statistics: Mapping[str, Any]) -> Activity:
    """Activity of many points at once: `statistics` are int64 arrays that broadcast to the points' shape."""
    pairs = zip(template.tasks, template.work(dict(statistics)), strict=True)
    return Activity(template.datatype, tuple(_component(task, work) for task, work in pairs))


def _component(task: PlanTask, work: TaskWork) -> ComponentActivity:
    return ComponentActivity(
        component=task.component,
        primitive=task.primitive,
        source_layer=task.source_layer,
        unit=task.unit,
        executions=task.executions,
        collective=task.collective,
        ranks=task.ranks,
        operations=work.operations,
        read_bytes=work.read_bytes,
        write_bytes=work.write_bytes,
        message_bytes=work.message_bytes,
    )
