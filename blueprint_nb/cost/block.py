"""CostBlock: seconds of every component and term over all points, component-major.

Each term is one float64 array a component, of any shape that broadcasts to the points' shape: a GEMM that does not see
the context keeps one value a batch. Long tables are views that others build from this when asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np

from .activity import Activity, ComponentActivity
from .bands import Band, Deviation, band_of_sum
from .origin import Origin

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
    floor_seconds: Any = 0.0
    """Spent whatever the work is: launches, reductions, latencies."""
    terms: Mapping[str, Any] = field(default_factory=dict)
    """All terms by the names of the form that made them, where one did."""
    band: Band | None = None
    """Where nine of ten such times lie; None where nobody knows."""
    family: str = ""
    """Of kernels, whose errors go together."""
    correlation: Any = 1.0
    """Of those: a number, or an array of the points' shape where not all are priced by one."""
    origins: tuple[Origin, ...] = ()
    """Where the seconds come from."""
    origin_index: Any = 0
    """Which of them, at each point: an int or an int array."""

    @property
    def times(self) -> dict[str, Any]:
        """Its seconds by the names of their fields, without terms and band."""
        return {name: getattr(self, name) for name in _TIMES}

    @property
    def arrays(self) -> list[Any]:
        """All arrays in it."""
        band = () if self.band is None else (self.band.low_seconds, self.band.high_seconds)
        own = [getattr(self, name) for name in _FIGURES]
        return [one for one in (*own, *self.terms.values(), *band) if isinstance(one, np.ndarray)]

    def mapped(self, change: Callable[[Any], Any]) -> ComponentCost:
        """With `change` made to each figure: all seconds, the correlation and the index of the origins."""
        band = self.band
        return ComponentCost(
            **{name: change(getattr(self, name)) for name in _TIMES},
            terms={name: change(term) for name, term in self.terms.items()},
            band=None if band is None else Band(change(band.low_seconds), change(band.high_seconds)),
            family=self.family,
            correlation=change(self.correlation),
            origins=self.origins,
            origin_index=change(self.origin_index),
        )


_TIMES: Final = ("compute_seconds", "memory_seconds", "network_seconds", "seconds", "floor_seconds")
_FIGURES: Final = (*_TIMES, "correlation", "origin_index")


BOUNDS: Final = ("memory", "compute", "network", "floor")


def bound_index(activity: ComponentActivity, cost: ComponentCost) -> Any:
    """Which of `BOUNDS` takes most of a component's time: an int8 array of the points' shape, or a scalar."""
    if activity.collective is not None:
        return np.where(np.greater(cost.floor_seconds, cost.network_seconds), np.int8(3), np.int8(2))
    bound = np.greater(cost.compute_seconds, cost.memory_seconds).astype(np.int8)
    waits = np.greater(cost.floor_seconds, np.maximum(cost.compute_seconds, cost.memory_seconds))
    return np.where(waits, np.int8(3), bound)


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
        for cost in self.costs:
            for values in cost.arrays:
                values.setflags(write=False)

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

    @cached_property
    def band(self) -> Band | None:
        """Of the whole phase; None where a component has none."""
        deviations = self.deviations
        return None if deviations is None else band_of_sum(self.seconds, deviations)

    @cached_property
    def deviations(self) -> tuple[Deviation, ...] | None:
        """Of each component that takes time, all executions counted; None where a component has no band."""
        found = []
        for activity, cost in self.priced:
            if cost.band is None:
                return None
            below, above = cost.seconds - cost.band.low_seconds, cost.band.high_seconds - cost.seconds
            times = activity.executions
            found.append(Deviation(cost.family, cost.correlation, below * times, above * times))
        return tuple(found)

    def _sum(self, times: Callable[[ComponentActivity], int]) -> Any:
        total: Any = 0.0
        for component, cost in self.priced:
            if executions := times(component):
                total = total + cost.seconds * executions
        return total
