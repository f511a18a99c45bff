"""Plans priced together: each gets what it would get alone."""

from __future__ import annotations

import pytest

from blueprint_nb.analysis import estimate_inference_phase
from blueprint_nb.analysis.lowering import attention_of, lower
from blueprint_nb.analysis.providers import provider_of
from blueprint_nb.catalog import load_model, load_system
from blueprint_nb.ir import BoundPlan, PortablePlanIR
from blueprint_nb.mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from blueprint_nb.validation.batched import estimate_plans
from blueprint_nb.workload import WorkloadBinding

MODEL, SYSTEM = load_model("llama-3.1-8b"), load_system("a100_80g_pcie")
NETWORK = NetworkTierBinding()


def plan(context_tokens: int) -> BoundPlan:
    lowered = lower(MODEL, TransformerInferenceMappingSpec(), "float16", attention_of(MODEL, None))
    workload = WorkloadBinding.decode(batch_size=3, context_tokens=context_tokens, datatype="float16")
    return lowered.implementation.bind(PortablePlanIR(template=lowered.plan, workload=workload))


@pytest.mark.parametrize("mode", ["calibrated", "peak-only"])
def test_each_plan_gets_what_it_would_get_alone_with_its_own_origins(mode: str) -> None:
    provider = provider_of(SYSTEM, mode, "vidur" if mode == "calibrated" else "")
    plans = [plan(1_000), plan(100_000)]
    together = estimate_plans(plans, SYSTEM, NETWORK, provider)
    assert [one.plan for one in together] == plans
    for one in together:
        alone = estimate_inference_phase(one.plan, SYSTEM, NETWORK, provider)
        for (activity, cost), (same, own) in zip(one.costs.priced, alone.costs.priced, strict=True):
            assert activity == same
            figures = {name: float(seconds) for name, seconds in (own.times | dict(own.terms)).items()}
            assert cost.times | dict(cost.terms) == pytest.approx(figures, rel=1e-12)
            assert (cost.origins, cost.origin_index) == (own.origins, own.origin_index)


def test_what_one_plan_asks_beyond_what_was_observed_is_not_said_of_another() -> None:
    provider = provider_of(SYSTEM, "calibrated", "vidur")
    both = estimate_plans([plan(1_000), plan(100_000)], SYSTEM, NETWORK, provider)
    attention = [
        next(cost for activity, cost in one.costs.priced if activity.component == "attention_core") for one in both
    ]
    assert ["context_tokens" in origin.match for cost in attention for origin in cost.origins] == [False, True]
