"""How a component's time comes about, in the words of who priced it."""

from __future__ import annotations

from functools import lru_cache

from ..cost import LEARNED_RESIDUAL, ComponentActivity, ComponentCost, CostProvider, Origin
from ..units import format_count, format_seconds
from .estimate import Estimate
from .priced_by import origin_of
from .providers import provider_for
from .step import Step


def explanation_of(estimate: Estimate, step: Step, component: ComponentActivity, cost: ComponentCost) -> str:
    """ "128 CTAs on 108 SMs: 2 waves, 59 % full; memory 31 µs; floor 2.1 µs"; "3 measurements, 1.2 µs apart".

    It is of one execution of a component of `step`; empty in the analytical modes. Raises as `provider_for`.
    """
    origin = origin_of(cost)
    if origin is None:
        return ""
    if origin.method in ("calibrated", LEARNED_RESIDUAL):
        inputs = estimate.inputs
        return _provider(estimate).explanation(component, step.costs.activity, inputs.system, inputs.network)
    return _measured(origin) if origin.method == "exact-evidence" else ""


def _measured(origin: Origin) -> str:
    count = f"{format_count(origin.samples)} {'measurement' if origin.samples == 1 else 'measurements'}"
    return count if origin.spread_seconds is None else f"{count}, {format_seconds(origin.spread_seconds)} apart"


@lru_cache(maxsize=1)
def _provider(estimate: Estimate) -> CostProvider:
    """Kept for the components of one estimate, which are explained one after the other."""
    return provider_for(estimate.inputs)
