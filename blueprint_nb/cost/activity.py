"""Activity: what a bound plan makes a machine do, component by component, before anybody says how long it takes.

Operations by unit, bytes by memory, messages by network role. Seconds read it today; joules and money will read the
same. Quantities are exact: ints for one plan, int64 arrays for many points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Value of every name in the task's formulas that is no statistic: widths, heads (see `ir.Origin`)."""


@dataclass(frozen=True, slots=True)
class Activity:
    """A step's activity, in plan order. Arrays of its components broadcast to one shape of points."""

    datatype: str
    components: tuple[ComponentActivity, ...]
    statistics: Mapping[str, Any] = field(default_factory=dict)
    """The sums over sequences that the quantities are formed of (see `workload.statistics`)."""


def plan_activity(plan: BoundPlan) -> Activity:
    """Activity of one plan, as ints."""
    pairs = zip(plan.template.tasks, plan.work, strict=True)
    return Activity(plan.template.datatype, tuple(_component(*pair) for pair in pairs), plan.statistics)


def template_activity(template: BoundTemplate, statistics: Mapping[str, Any]) -> Activity:
    """Activity of many points at once: `statistics` are int64 arrays that broadcast to the points' shape."""
    pairs = zip(template.tasks, template.work(dict(statistics)), strict=True)
    return Activity(template.datatype, tuple(_component(*pair) for pair in pairs), statistics)


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
        sizes=task.origin.symbols,
    )
