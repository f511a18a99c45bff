"""One step of an estimate, component by component, without the frame of all steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..cost import BOUNDS, Activity, ComponentActivity, ComponentCost, CostBlock, bound_index
from ..errors import InvalidInputError, one_of, shown
from ..workload import InferencePhase
from .estimate import Estimate
from .frames import WORK_COLUMNS


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

    Raises `UnknownNameError` for another phase, `InvalidInputError` where the request has no such step.
    """
    request = estimate.inputs.request
    if one_of("phase", phase, [str(known) for known in InferencePhase]) == InferencePhase.PREFILL:
        if context_tokens not in (None, request.prompt_tokens):
            rule = f"is that of the prompt in the prefill, {request.prompt_tokens:,}"
            raise InvalidInputError("context_tokens", got=shown(context_tokens), rule=rule, next_step="Leave it out.")
        return Step(InferencePhase.PREFILL, request.prompt_tokens, _at(estimate.prefill.costs, (), ()))
    contexts = estimate.decode_contexts
    context = request.last_context_tokens if context_tokens is None else context_tokens
    is_whole = isinstance(context, (int, np.integer)) and not isinstance(context, bool)
    index = context - request.prompt_tokens - 1 if is_whole else -1
    if estimate.decode_costs is None or not 0 <= index < len(contexts):
        steps = f"from {contexts[0]:,} to {contexts[-1]:,}" if len(contexts) else "of a decode step: there is none"
        got = f"{context:,}" if is_whole else shown(context)
        raise InvalidInputError("context_tokens", got=got, rule=f"must be a visible context {steps}")
    return Step(InferencePhase.DECODE, int(context), _at(estimate.decode_costs, contexts.shape, index))


def bound_of(activity: ComponentActivity, cost: ComponentCost) -> str:
    """The term that bounds one component of a step: compute, memory, network or floor."""
    return BOUNDS[int(bound_index(activity, cost))]


def _at(block: CostBlock, shape: tuple[int, ...], index: Any) -> CostBlock:
    def picked(figures: Any) -> Any:
        return np.broadcast_to(figures, shape)[index].item()

    activity = block.activity
    components = (
        replace(one, **{name: picked(getattr(one, name)) for name in WORK_COLUMNS}) for one in activity.components
    )
    statistics = {name: picked(figures) for name, figures in activity.statistics.items()}
    return replace(
        block,
        activity=Activity(activity.datatype, tuple(components), statistics),
        costs=tuple(cost.mapped(picked) for cost in block.costs),
    )
