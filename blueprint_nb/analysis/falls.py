"""Where a step takes less time though there is more to do, and why: it must not pass unmarked.

A curve of steps jumps up at its thresholds, a measured or asserted time stands beside others that it does not follow,
and one fitted form takes over from another. Which of these it was, is told by who priced the components that fell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..cost import USER_ASSERTED, ComponentCost

if TYPE_CHECKING:
    import polars as pl

    from .estimate import Estimate

_MAPPING = ("tensor_parallel", "pipeline_parallel")
_WORK = ("batch_size", "context_tokens")

_CAUSES: Final = {
    USER_ASSERTED: ("asserted time", "an asserted time, which need not lie on the line of its neighbours"),
    "exact-evidence": ("measured time", "a measured time, which need not lie on the line of its neighbours"),
    "system-evidence": (
        "efficiency step",
        "a step of the cost mode's efficiency curve, not a behaviour of the machine",
    ),
    "calibrated": ("fitted forms", "a fault of the fitted forms, not a behaviour of the machine"),
    "peak-only": ("model", "a fault of the model, not a behaviour of the machine"),
}
"""Method to its label and why time falls by it; what stands before another is the cause where both had a part."""

_NO_CAUSE: Final = ("faster step", "providers that were stacked and do not agree here")


@dataclass(frozen=True, slots=True)
class Fall:
    """A decode step that is faster than the one before."""

    context_tokens: int
    components: tuple[str, ...]
    """Those that are faster."""
    label: str
    """In two words."""
    why: str


def cause_in(mode: str) -> str:
    """Why time falls in a mode with nothing stacked before it."""
    return _CAUSES[mode][1]


def falls_of(estimate: Estimate, indices: Any) -> list[Fall]:
    """What is behind some decode steps that are faster than the one before: `indices` (int) of `drop_indices`."""
    costs, drops = estimate.decode_costs, np.asarray(indices, dtype=np.int64)
    if costs is None or not len(drops):
        return []
    shape = estimate.decode_contexts.shape
    falling = [np.diff(np.broadcast_to(cost.seconds, shape))[drops - 1] < 0 for cost in costs.costs]
    found = []
    for place, index in enumerate(drops.tolist()):
        fallen = [priced for priced, falls in zip(costs.priced, falling, strict=True) if falls[place]]
        methods = {method for _, cost in fallen for method in _methods(cost, shape, index)}
        label, why = next((cause for method, cause in _CAUSES.items() if method in methods), _NO_CAUSE)
        names = tuple(activity.component for activity, _ in fallen)
        found.append(Fall(int(estimate.decode_contexts[index]), names, label, why))
    return found


def _methods(cost: ComponentCost, shape: tuple[int, ...], index: int) -> set[str]:
    """How a step and the one before were priced."""
    places: Any = np.broadcast_to(cost.origin_index, shape)[index - 1 : index + 1]
    return {cost.origins[place].method for place in places.tolist()} if cost.origins else set()


def falling_points(frame: pl.DataFrame) -> pl.DataFrame:
    """The feasible points of a sweep that are faster than the next smaller batch or the next shorter context.

    `frame` is what `sweep_points` gives; the rows keep their order and columns.
    """
    import polars as pl

    points = frame.with_row_index("point").filter(pl.col("feasible"))
    falling = []
    for grows, stays in (_WORK, _WORK[::-1]):
        over = (*_MAPPING, stays)
        ordered = points.sort(grows, maintain_order=True)
        falls = (pl.col("seconds").diff().over(over) < 0) & (pl.col(grows).diff().over(over) > 0)
        falling.append(ordered.filter(falls)["point"])
    return frame[pl.concat(falling).unique().sort()]
