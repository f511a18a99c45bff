"""What can't be costed is refused, and the figure that is missing is named."""

from __future__ import annotations

import dataclasses

import pytest
from architectures import decoder, planned

import blueprint_nb as bp
from blueprint_nb.analysis import PhaseEstimate, estimate_inference_phase
from blueprint_nb.catalog import system_names
from blueprint_nb.cost import ANALYTICAL_MODES, AnalyticalProvider
from blueprint_nb.errors import InvalidInputError, UnknownNameError, UnsupportedError
from blueprint_nb.mapping import NetworkTierBinding
from blueprint_nb.workload import WorkloadBinding

REFERENCE = ["a100_80g", "h100_80g_nvl8"]
DATASHEETS = [name for name in system_names() if name not in REFERENCE]


def price(
    system: str | bp.SystemProfile,
    mode: str = "peak-only",
    datatype: str = "float16",
    ranks: int = 1,
    stages: int = 1,
    **network: int,
) -> PhaseEstimate:
    step = WorkloadBinding.decode(batch_size=2, context_tokens=100, datatype=datatype)
    model = decoder(attention_heads=16, key_value_heads=16, feedforward_size=256)
    plan = planned(model, step, tensor_parallel=ranks, pipeline_parallel=stages).bound
    binding = NetworkTierBinding(**network)
    return estimate_inference_phase(plan, bp.load_system(system), binding, AnalyticalProvider(mode))


@pytest.mark.parametrize("name", DATASHEETS)
def test_a_datasheet_system_has_no_curves_and_system_evidence_says_which(name: str) -> None:
    assert price(name).seconds > 0
    tiers = [f"network.{i}.efficiency_fraction" for i in range(len(bp.load_system(name).network))]
    with pytest.raises(UnsupportedError) as caught:
        price(name, mode="system-evidence")
    assert str(caught.value) == (
        f"mode needs efficiencies that nobody measured for {name}: matrix.efficiency, vector.efficiency, "
        f"memory.efficiency, {', '.join(tiers)}. Got 'system-evidence'. "
        "Use mode='peak-only', or a system with curves such as a100_80g or h100_80g_nvl8."
    )


def test_one_missing_curve_is_enough_to_refuse() -> None:
    base = bp.load_system("a100_80g")
    vector = base.vector.model_copy(update={"efficiency": None})
    with pytest.raises(UnsupportedError, match=r"nobody measured for a100_80g: vector\.efficiency\. Got"):
        price(base.model_copy(update={"vector": vector}), mode="system-evidence")


def test_float8_is_refused_where_there_is_no_such_peak() -> None:
    assert price("h100_80g_nvl8", datatype="float8").seconds > 0
    for mode in ANALYTICAL_MODES:
        with pytest.raises(UnsupportedError) as caught:
            price("a100_80g", mode=mode, datatype="float8")
        assert str(caught.value) == (
            "a100_80g.matrix.float8_tflop_per_s is not in this profile, so float8 can't be costed on it. "
            "It has float16."
        )


@pytest.mark.parametrize("name", DATASHEETS)
def test_bfloat16_has_the_float16_peak_on_datasheets(name: str) -> None:
    assert price(name, datatype="bfloat16").seconds == price(name, datatype="float16").seconds


@pytest.mark.parametrize("name", system_names())
@pytest.mark.parametrize("datatype", ["float32", "float16", "bfloat16", "float8"])
def test_a_datatype_is_costed_exactly_where_both_engines_have_its_peak(name: str, datatype: str) -> None:
    system = bp.load_system(name)
    figure = f"{datatype}_tflop_per_s"
    if getattr(system.matrix, figure) and getattr(system.vector, figure):
        assert price(name, datatype=datatype).seconds > 0
    else:
        with pytest.raises(UnsupportedError, match=rf"^{name}\.(matrix|vector)\.{figure} is not in this profile"):
            price(name, datatype=datatype)


def test_a_rank_limit_holds_for_the_group_of_one_collective() -> None:
    assert price("a100_80g", ranks=8, stages=2).seconds > 0
    assert price("a100_80g", ranks=16, tensor_parallel_network=1).seconds > 0
    with pytest.raises(InvalidInputError) as caught:
        price("a100_80g", ranks=16)
    assert str(caught.value) == (
        "tensor_parallel must be at most 8, the ranks that network tier 0 (in the box) of a100_80g reaches. Got 16. "
        "Use fewer ranks, or another tensor_parallel_network."
    )


def test_a_collective_without_its_cost_is_refused() -> None:
    base = bp.load_system("a100_80g")
    tier = base.network[0]
    others = {kind: cost for kind, cost in tier.collectives.items() if kind != "all_reduce"}
    bare = base.model_copy(update={"network": (tier.model_copy(update={"collectives": others}),)})
    with pytest.raises(UnsupportedError) as caught:
        price(bare, ranks=2)
    assert str(caught.value) == (
        "collectives.all_reduce is not in this profile. It has all_gather, point_to_point, reduce_scatter."
    )
    assert price(bare).seconds > 0


def test_a_tier_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        price("a100_80g", ranks=2, tensor_parallel_network=2)
    assert str(caught.value) == (
        "tensor_parallel_network must be a network tier of a100_80g. Got 2. It has 0 (in the box), 1 (between boxes)."
    )


class Oracle:
    """What a table of measurements offers: look-ups, and no prices."""

    name = "vidur"

    def lookup(self, component: str) -> float:
        return 1.0


class Pretender(Oracle):
    """A look-up that also has the provider's method."""

    def cost(self, *arguments: object) -> None:
        """Never called."""


@pytest.mark.parametrize("oracle", [Oracle(), Pretender(), "system-evidence", None, AnalyticalProvider])
def test_an_oracle_can_not_price_a_plan(oracle: object) -> None:
    plan = price("a100_80g").plan
    name = type(oracle).__name__
    with pytest.raises(TypeError) as caught:
        estimate_inference_phase(plan, bp.load_system("a100_80g"), NetworkTierBinding(), oracle)
    assert str(caught.value) == f"costing takes a CostProvider, got {name}: an oracle can't price a plan"


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("peak", "mode must be peak-only or system-evidence. Got 'peak'. Did you mean peak-only?"),
        ("", "mode must be peak-only or system-evidence. Got ''."),
        (None, "mode must be peak-only or system-evidence. Got None."),
    ],
)
def test_an_unknown_mode_is_refused(mode: object, message: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        AnalyticalProvider(mode)
    assert str(caught.value) == message


def test_a_phase_estimate_is_frozen() -> None:
    phase = price("a100_80g")
    with pytest.raises(dataclasses.FrozenInstanceError):
        phase.plan = None
    with pytest.raises(dataclasses.FrozenInstanceError):
        phase.costs.costs = ()
