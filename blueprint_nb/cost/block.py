"""CostBlock: seconds of every component and term over all points, component-major.

Each term is one float64 array a component, of any shape that broadcasts to the points' shape: a GEMM that does not see
the context keeps one value a batch. Long tables are views that others build from this when asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from .activity import Activity, ComponentActivity

BLOCK_LAYERS: Final = ("attention", "mlp")
"""Source layers of one decoder block."""

STACK_LAYERS: Final = (*BLOCK_LAYERS, "pipeline")
"""Source layers of the stack: its blocks and the hops between stages."""


@dataclass(frozen=True, slots=True)
class ComponentCost:
    """Seconds of one execution of a component, by term."""

    compute_seconds: Any
    memory_seconds: Any
    network_seconds: Any
    seconds: Any


BOUNDS: Final = ("memory", "compute", "network")


def bound_index(activity: ComponentActivity, cost: ComponentCost) -> Any:
    """Which of `BOUNDS` takes most of a component's time: an int8 array of the points' shape, or a scalar."""
    if activity.collective is not None:
        return np.int8(2)
    return np.greater(cost.compute_seconds, cost.memory_seconds).astype(np.int8)


@dataclass(frozen=True, eq=False)
class CostBlock:
    """Costs beside the activity they were made from."""

    activity: Activity
    costs: tuple[ComponentCost, ...]
    provider: str
    """Who made the figures."""
    system_revision: str

    def __post_init__(self) -> None:
        """Make the figures read-only: what is compared with a measurement must be frozen."""
        terms = (getattr(cost, name) for cost in self.costs for name in ComponentCost.__slots__)
        for seconds in terms:
            if isinstance(seconds, np.ndarray):
                seconds.setflags(write=False)

    @property
    def priced(self) -> Iterator[tuple[ComponentActivity, ComponentCost]]:
        """Each component's activity and cost, in plan order."""
        return zip(self.activity.components, self.costs, strict=True)

    @cached_property
    def seconds(self) -> Any:
        """Of the whole phase: Σ seconds · executions."""
        return self._sum(lambda component: component.executions)

    @cached_property
    def stack_seconds(self) -> Any:
        """Of the decoder stack: blocks and hops, without embedding and head."""
        return self._sum(lambda component: component.executions if component.source_layer in STACK_LAYERS else 0)

    @cached_property
    def block_seconds(self) -> Any:
        """Of one decoder block."""
        return self._sum(lambda component: int(component.source_layer in BLOCK_LAYERS))

    def _sum(self, times: Callable[[ComponentActivity], int]) -> Any:
        total: Any = 0.0
        for component, cost in self.priced:
            if executions := times(component):
                total = total + cost.seconds * executions
        return total
