"""One step of an estimate, component by component, without the frame of all steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..cost import BOUNDS, Activity, Band, ComponentActivity, ComponentCost, CostBlock, bound_index
from ..errors import InvalidInputError, one_of
from ..workload import InferencePhase
from .estimate import Estimate
from .frames import TERM_COLUMNS, WORK_COLUMNS

_SECONDS = (*TERM_COLUMNS, "floor_seconds", "seconds")


@dataclass(frozen=True, eq=False)
class Step:
    """The prefill, or one decode step, priced."""

    phase: InferencePhase
    context_tokens: int
    costs: CostBlock
    """Of this step alone: ints and floats."""

    @property
    def seconds(self) -> float:
        """Of the whole phase."""
        return float(self.costs.seconds)


def step_of(estimate: Estimate, phase: str, context_tokens: int | None = None) -> Step:
    """The prefill, or the decode step at a visible context; None means the last step.

    Raises `InvalidInputError` where the request has no such step.
    """
    request = estimate.inputs.request
    if one_of("phase", phase, [str(known) for known in InferencePhase]) == InferencePhase.PREFILL:
        return Step(InferencePhase.PREFILL, request.prompt_tokens, _at(estimate.prefill.costs, (), ()))
    contexts = estimate.decode_contexts
    context = request.last_context_tokens if context_tokens is None else context_tokens
    index = context - request.prompt_tokens - 1
    if estimate.decode_costs is None or not 0 <= index < len(contexts):
        steps = f"from {contexts[0]:,} to {contexts[-1]:,}" if len(contexts) else "of a decode step: there is none"
        raise InvalidInputError("context_tokens", got=f"{context:,}", rule=f"must be a visible context {steps}")
    return Step(InferencePhase.DECODE, context, _at(estimate.decode_costs, contexts.shape, index))


def bound_of(activity: ComponentActivity, cost: ComponentCost) -> str:
    """The term that bounds one component of a step: compute, memory, network or floor."""
    return BOUNDS[int(bound_index(activity, cost))]


def _at(block: CostBlock, shape: tuple[int, ...], index: Any) -> CostBlock:
    activities, costs = block.activity.components, block.costs
    return replace(
        block,
        activity=Activity(
            block.activity.datatype,
            tuple(_picked(item, WORK_COLUMNS, shape, index, int) for item in activities),
            {name: int(np.broadcast_to(value, shape)[index]) for name, value in block.activity.statistics.items()},
        ),
        costs=tuple(_cost_at(cost, shape, index) for cost in costs),
    )


def _cost_at(cost: ComponentCost, shape: tuple[int, ...], index: Any) -> ComponentCost:
    band = cost.band
    return replace(
        cost,
        **_values(cost, _SECONDS, shape, index, float),
        origin_index=int(np.broadcast_to(cost.origin_index, shape)[index]),
        terms={name: float(np.broadcast_to(term, shape)[index]) for name, term in cost.terms.items()},
        band=None if band is None else Band(**_values(band, ("low_seconds", "high_seconds"), shape, index, float)),
    )


def _picked(record: Any, names: tuple[str, ...], shape: tuple[int, ...], index: Any, kind: type) -> Any:
    return replace(record, **_values(record, names, shape, index, kind))


def _values(record: Any, names: tuple[str, ...], shape: tuple[int, ...], index: Any, kind: type) -> dict[str, Any]:
    return {name: kind(np.broadcast_to(getattr(record, name), shape)[index]) for name in names}
