"""How a component's time comes about, in the words of the form that priced it."""

from __future__ import annotations

from functools import lru_cache

from ..cost import ComponentActivity, CostProvider
from ..system import SystemProfile
from .estimate import Estimate
from .providers import provider_of
from .step import Step


def explanation_of(estimate: Estimate, step: Step, component: ComponentActivity) -> str:
    """ "128 CTAs on 108 SMs: 2 waves, 59 % full; memory 31 µs; floor 2.1 µs".

    It is of one execution of a component of `step`; empty in the analytical modes. Raises as `provider_of`.
    """
    inputs = estimate.inputs
    provider = _provider(inputs.system, inputs.mode, inputs.calibration)
    return provider.explanation(component, step.costs.activity, inputs.system, inputs.network)


@lru_cache(maxsize=8)
def _provider(system: SystemProfile, mode: str, calibration: str) -> CostProvider:
    return provider_of(system, mode, calibration)
