"""The resolver: providers in order, whole blocks at a time; the first that covers a row wins, and equals may not."""

from __future__ import annotations

import numpy as np
import pytest
from architectures import mapped_models, planned, workloads
from hypothesis import given
from hypothesis import strategies as st

import blueprint_nb as bp
from blueprint_nb.analysis.frames import component_frame
from blueprint_nb.cost import AnalyticalProvider, CostBlock, CostResolver, Origin, plan_activity
from blueprint_nb.errors import InvalidInputError, UnsupportedError
from blueprint_nb.mapping import NetworkTierBinding

from .sets import A100, NETWORK, MadeUp, grid, step

CORE, UP = "attention_core", "mlp_up"


def priced(block: CostBlock) -> dict[str, float]:
    return {activity.component: float(np.ravel(cost.seconds)[-1]) for activity, cost in block.priced}


def origins(block: CostBlock, component: str) -> list[str]:
    """Provider of each point of a component, row by row."""
    (cost,) = (cost for activity, cost in block.priced if activity.component == component)
    index = np.broadcast_to(cost.origin_index, np.shape(cost.seconds))
    return [cost.origins[one].provider for one in index.reshape(-1).tolist()]


def test_the_first_provider_that_covers_a_component_prices_it() -> None:
    stack = [MadeUp("a", 1.0, {CORE: True}), MadeUp("b", 2.0, {CORE: True, UP: True}), MadeUp("c", 3.0)]
    found = priced(CostResolver(stack).resolve(step(), A100, NETWORK))
    assert (found.pop(CORE), found.pop(UP)) == (1.0, 2.0)
    assert set(found.values()) == {3.0}


def test_nobody_is_asked_once_everything_is_covered() -> None:
    first, second = MadeUp("a", 1.0), MadeUp("b", 2.0)
    CostResolver([first, second]).resolve(step(), A100, NETWORK)
    assert (first.asked, second.asked) == (1, 0)


def test_a_provider_may_cover_some_points_of_a_block() -> None:
    covers = np.array([[True, False, True]])
    stack = [MadeUp("a", 1.0, {CORE: covers}), MadeUp("b", 2.0)]
    block = CostResolver(stack).resolve(grid([1, 2], [10, 20, 30]), A100, NETWORK)
    assert origins(block, CORE) == ["a", "b", "a"] * 2
    (cost,) = (cost for activity, cost in block.priced if activity.component == CORE)
    assert cost.seconds.tolist() == [[1.0, 2.0, 1.0]] * 2
    assert cost.band is not None
    assert cost.band.high_seconds.tolist() == [[1.2, 2.4, 1.2]] * 2
    np.testing.assert_array_equal(cost.terms["a"], [[1.0, np.nan, 1.0]] * 2)
    assert origins(block, UP) == ["b"] * len(origins(block, UP))


def test_three_providers_may_share_a_component() -> None:
    first, second = np.array([[True, False, False]]), np.array([[True, True, False]])
    stack = [MadeUp("a", 1.0, {CORE: first}), MadeUp("b", 2.0, {CORE: second}), MadeUp("c", 3.0)]
    block = CostResolver(stack).resolve(grid([1], [10, 20, 30]), A100, NETWORK)
    assert origins(block, CORE) == ["a", "b", "c"]


def test_a_component_that_one_of_its_providers_has_no_band_for_has_none() -> None:
    stack = [MadeUp("a", 1.0, {CORE: np.array([[True, False]])}), MadeUp("b", 2.0, band=False)]
    block = CostResolver(stack).resolve(grid([1], [10, 20]), A100, NETWORK)
    assert block.band is None


def test_two_equal_claims_are_an_error_that_names_both() -> None:
    resolver = CostResolver([[MadeUp("a", 1.0, {CORE: True}), MadeUp("b", 2.0, {CORE: True})], MadeUp("c", 3.0)])
    with pytest.raises(InvalidInputError) as caught:
        resolver.resolve(step(), A100, NETWORK)
    assert str(caught.value) == (
        "attention_core is claimed by two providers of the same place in the stack. Got a and b. "
        "Put one of them before the other, or leave one out."
    )


def test_equals_may_claim_different_points_or_what_is_settled_before_them() -> None:
    half, rest = np.array([[True, False]]), np.array([[False, True]])
    block = CostResolver([[MadeUp("a", 1.0, {CORE: half}), MadeUp("b", 2.0, {CORE: rest})], MadeUp("c", 3.0)]).resolve(
        grid([1], [10, 20]), A100, NETWORK
    )
    assert origins(block, CORE) == ["a", "b"]
    settled = CostResolver([MadeUp("a", 1.0), [MadeUp("b", 2.0), MadeUp("c", 3.0)]])
    assert set(priced(settled.resolve(step(), A100, NETWORK)).values()) == {1.0}


def test_a_component_that_nobody_covers_is_refused() -> None:
    with pytest.raises(UnsupportedError) as caught:
        CostResolver([MadeUp("a", 1.0, lambda name: name != UP)]).resolve(step(), A100, NETWORK)
    assert str(caught.value) == (
        "mlp_up is covered by none of a. Got mlp_up_projection. "
        "Stack a provider behind them that covers it, such as peak-only."
    )
    partly = CostResolver([MadeUp("a", 1.0, lambda name: np.array([[True, False]]))])
    with pytest.raises(UnsupportedError, match="is covered by none of a"):
        partly.resolve(grid([1], [10, 20]), A100, NETWORK)


def test_a_stack_in_a_stack_passes_on_what_it_does_not_cover() -> None:
    inner = CostResolver([MadeUp("a", 1.0, {CORE: True}), MadeUp("b", 2.0, {UP: True})])
    found = priced(CostResolver([inner, MadeUp("c", 3.0)]).resolve(step(), A100, NETWORK))
    assert (found[CORE], found[UP], found["rope"]) == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("stack", "message"),
    [
        ([], "stack must hold at least one provider. Got []."),
        (
            [MadeUp("a", 1.0), MadeUp("a", 2.0)],
            "stack must hold each provider once: two equal claims can't be told apart. Got a twice.",
        ),
    ],
)
def test_a_stack_holds_providers_of_different_names(stack: list[MadeUp], message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        CostResolver(stack)
    assert str(caught.value) == message


@pytest.mark.parametrize("odd", [object(), "peak-only", None, 7])
def test_only_providers_can_be_stacked(odd: object) -> None:
    with pytest.raises(TypeError, match=r"^costing takes a CostProvider, got \w+: an oracle can't price a plan$"):
        CostResolver([MadeUp("a", 1.0), odd])


def test_more_than_a_byte_of_origins_fits_into_one_component() -> None:
    contexts = list(range(1, 402))

    class Many(MadeUp):
        def claims(self, activity, system, network):  # type: ignore[no-untyped-def]
            claims = super().claims(activity, system, network)
            for claim in claims:
                if claim is not None and np.ndim(claim.covers):
                    seen = tuple(Origin(f"{self.name}{one}", "1", "made-up", "formula") for one in range(400))
                    index = np.minimum(np.arange(401), 399)[None, :]
                    object.__setattr__(claim.cost, "origins", seen)
                    object.__setattr__(claim.cost, "origin_index", index)
            return claims

    half = np.arange(401)[None, :] % 2 == 0
    small = MadeUp("b", 2.0)
    for stack in (
        [Many("a", 1.0, {CORE: half}), small],
        [MadeUp("c", 1.0, {CORE: half}), Many("a", 3.0, lambda _: np.ones((1, 401), dtype=bool))],
    ):
        block = CostResolver(stack).resolve(grid([1], contexts), A100, NETWORK)
        frame = component_frame(block, (1, 401), {"context_tokens": np.array(contexts)[None, :]})
        core = frame.filter(frame["component"] == CORE)["provider"].to_list()
        first = [f"a{min(one, 399)}" if stack[0].name == "a" else "c" for one in range(401)]
        second = ["b" if stack[0].name == "a" else f"a{min(one, 399)}" for one in range(401)]
        assert core == [first[one] if one % 2 == 0 else second[one] for one in range(401)]


@given(mapped_models(), workloads(datatypes=("float32", "float16")), st.sampled_from(["peak-only", "system-evidence"]))
def test_without_a_database_a_mode_in_a_stack_is_the_mode_to_the_last_bit(mapped, workload, mode) -> None:  # type: ignore[no-untyped-def]
    model, ranks, stages = mapped
    system = bp.load_system("a100_80g")
    network = NetworkTierBinding(tensor_parallel_network=1, pipeline_parallel_network=1)
    plan = planned(model, workload, tensor_parallel=ranks, pipeline_parallel=stages).bound
    activity = plan_activity(plan)
    if workload.datatype == "float32":
        system = system.with_overrides({"matrix.float32_tflop_per_s": 156, "vector.float32_tflop_per_s": 19.5})
    plain = AnalyticalProvider(mode)
    for stacked in (CostResolver([plain]), CostResolver([MadeUp("silent", 1.0, {}), plain])):
        block, expected = stacked.resolve(activity, system, network), plain.cost(activity, system, network)
        assert block.costs == expected.costs
        assert np.array_equal(block.seconds, expected.seconds)
    assert CostResolver([plain]).name == mode


def test_an_estimate_of_an_analytical_mode_is_priced_by_that_mode_alone() -> None:
    est = bp.estimate("phi-2", "a100_80g", mode="peak-only", generated_tokens=4)
    assert est.prefill.costs.provider == "peak-only"
    assert est.components["method"].unique().to_list() == ["peak-only"]
