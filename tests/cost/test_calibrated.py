"""The mode calibrated: what it claims, where it says it comes from, and what no parameters may break."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from architectures import decoder, decoders, legal_tensor_parallel
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import blueprint_nb as bp
from blueprint_nb.analysis.providers import provider_of
from blueprint_nb.catalog import load_calibration, system_names
from blueprint_nb.cost import Activity, CalibratedProvider, ComponentCost, CostBlock, CostProvider, has_calibration
from blueprint_nb.cost.calibration import FamilyFit
from blueprint_nb.errors import UnsupportedError
from blueprint_nb.system import SystemProfile

from .sets import A100, NETWORK, fit_of, form_named, grid, machine, residuals, set_of, step

SYSTEMS = [name for name in system_names() if has_calibration(bp.load_system(name))]
BATCHES = [1, 2, 3, 7, 8, 16, 33, 64, 200, 256]
CONTEXTS = [1, 2, 15, 16, 17, 128, 129, 500, 1024, 1025, 2047, 2048, 4096]


def of(block: CostBlock, component: str) -> ComponentCost:
    return next(cost for activity, cost in block.priced if activity.component == component)


def matches(cost: ComponentCost) -> list[str]:
    index = np.broadcast_to(cost.origin_index, np.shape(cost.seconds))
    return [cost.origins[one].match for one in index.reshape(-1).tolist()]


def priced(activity: Activity, provider: CostProvider, system: SystemProfile = A100) -> CostBlock:
    return provider.cost(activity, system, NETWORK)


def test_a_row_says_who_priced_it_by_what_and_from_how_many_measurements() -> None:
    whole = set_of()
    cost = of(priced(step(), CalibratedProvider(whole)), "qkv_projection")
    (origin,) = cost.origins
    assert (origin.provider, origin.revision, origin.method) == ("calibrated:made-up", whole.revision, "calibrated")
    assert (origin.match, origin.samples, origin.records) == ("in range", 7, ())
    assert cost.family == "gemm"
    assert set(cost.terms) >= {"floor", "compute", "memory"}


def test_what_the_parameters_and_residuals_are_decides_the_revision() -> None:
    revisions = {
        set_of(families={"rope": one}).revision
        for one in (
            fit_of("rope"),
            fit_of("rope", residuals=residuals(0.5)),
            fit_of("rope", ranges={"rows": (1, 2), "width": (1, 2)}),
            fit_of("rope", values={**fit_of("rope").values, "floor_seconds": 2e-6}),
            fit_of("rope", machine=machine()),
        )
    }
    assert len(revisions) == 5
    assert set_of(seed=2, optimiser="another").revision == set_of().revision


def test_a_family_that_nobody_measured_takes_that_of_one_that_works_alike() -> None:
    whole = set_of().families
    families = {name: fit for name, fit in whole.items() if name not in ("layer_norm", "activation")}
    block = priced(step(model=bp.load_model("phi-2")), CalibratedProvider(set_of(families=families)))
    activation, added = of(block, "mlp_activation"), of(block, "mlp_residual")
    assert matches(of(block, "input_norm")) == ["borrowed from rms_norm, in range"]
    assert matches(activation) == ["borrowed from add, in range"]
    ratios = [cost.band.high_seconds / cost.seconds - 1 for cost in (activation, added) if cost.band is not None]
    assert float(ratios[0]) == pytest.approx(2 * float(ratios[1]))
    assert activation.family == "activation"


def test_new_kv_is_written_within_attention_as_in_the_calls_that_were_measured() -> None:
    block = priced(step(), CalibratedProvider(set_of()))
    saved = of(block, "kv_save")
    assert matches(saved) == ["within attention, whose measured calls append"]
    assert float(saved.seconds) == 0.0
    prefill = priced(grid([1], [4096], phase="prefill"), CalibratedProvider(set_of()))
    assert float(of(prefill, "attention_core").terms["append"].max()) > 0.0


def test_a_set_that_has_seen_the_kv_save_alone_prices_it() -> None:
    alone = set_of(families={**set_of().families, "kv_save": fit_of("kv_save")})
    saved = of(priced(step(), CalibratedProvider(alone)), "kv_save")
    assert matches(saved) == ["in range"]
    assert float(saved.seconds) > 0.0


def test_the_band_of_decode_reaches_to_kv_that_comes_from_the_memory() -> None:
    """The estimate is what a profiler saw that repeats its call: 2 MB of KV are in its cache, gigabytes are not."""
    fit = fit_of("attention_decode", residuals=residuals(0.01))
    calibration = set_of(families={**set_of().families, "attention_decode": fit})
    core = of(priced(grid([1, 100_000], [128]), CalibratedProvider(calibration)), "attention_core")
    assert core.band is not None
    small, large = (core.band.high_seconds / core.seconds).reshape(-1).tolist()
    assert large == pytest.approx(np.exp(0.01))
    assert small > 1.02


def test_a_family_that_nothing_stands_in_for_is_refused_by_the_set_alone() -> None:
    with pytest.raises(UnsupportedError) as caught:
        priced(step(), CalibratedProvider(set_of("gemm")))
    assert str(caught.value) == (
        "embedding is not covered by the calibration made-up. Got embedding. "
        "Stack another provider behind it, such as the pooled calibration."
    )


def test_each_row_names_its_own_dimensions_outside_the_range() -> None:
    attention = fit_of(
        "attention_decode",
        ranges={**fit_of("attention_decode").ranges, "batch": (1, 4), "context_tokens": (1, 100), "heads": (8, 8)},
    )
    whole = set_of()
    narrow = set_of(families={**whole.families, "attention_decode": attention})
    block = priced(grid([2, 8], [50, 400]), CalibratedProvider(narrow))
    core = of(block, "attention_core")
    assert matches(core) == [
        "in range",
        "outside range: context_tokens",
        "outside range: batch",
        "outside range: batch, context_tokens",
    ]
    assert core.band is not None
    widths = core.band.high_seconds / core.seconds - 1
    assert widths.reshape(-1) == pytest.approx(np.expm1(0.2) * np.array([1, 2, 1.5, 2.5]))


def test_a_datatype_of_other_length_is_outside_the_range_of_a_set_for_any_device() -> None:
    pooled = set_of(systems=())
    core = of(priced(step(datatype="float32"), CalibratedProvider(pooled), _float32()), "mlp_up")
    assert matches(core) == ["outside range: float32"]
    with pytest.raises(UnsupportedError, match="not covered by the calibration made-up"):
        priced(step(datatype="float32"), CalibratedProvider(set_of()), _float32())


def _float32() -> SystemProfile:
    return A100.with_overrides({"matrix.float32_tflop_per_s": 156, "vector.float32_tflop_per_s": 19.5})


def test_a_prompt_of_one_token_is_priced_alike_alone_and_beside_others() -> None:
    provider = CalibratedProvider(set_of())
    together = of(priced(grid([2, 3], [1, 2, 300], phase="prefill"), provider), "attention_core")
    for column, context in enumerate([1, 2, 300]):
        alone = of(priced(grid([2, 3], [context], phase="prefill"), provider), "attention_core")
        assert alone.seconds.reshape(-1).tolist() == together.seconds[:, column].tolist()
        assert together.band is not None
        assert alone.band is not None
        assert alone.band.high_seconds.reshape(-1).tolist() == together.band.high_seconds[:, column].tolist()


def eager(name: str) -> FamilyFit:
    """The parameters within a form's bounds that make it as fast as can be."""
    faster = ("_fraction", "_ratio", "_gain", "_share", "rows_at_once")
    values = {one.name: one.highest if one.name.endswith(faster) else one.lowest for one in form_named(name).parameters}
    return fit_of(name, values=values)


def test_nothing_fitted_is_faster_than_the_peaks() -> None:
    whole = set_of(machine=machine())
    fast = set_of(families={**whole.families, **{name: eager(name) for name in ("gemm", "attention_decode")}})
    block = priced(
        grid([1, 512], [100, 4096], model=decoder(hidden_size=8192, feedforward_size=24576)), CalibratedProvider(fast)
    )
    work = {one.component: one for one in block.activity.components}
    up, core = of(block, "mlp_up"), of(block, "attention_core")
    weights = 2 * 8192 * work["mlp_up"].sizes["up_width"]
    assert (up.seconds >= weights / machine().bytes_per_second).all()
    assert (up.seconds >= work["mlp_up"].operations / machine().matrix_flops).all()
    cache = 2 * 2 * np.asarray(block.activity.statistics["context"]) * work["attention_core"].sizes["kv_width"]
    assert (core.seconds >= cache / machine().bytes_per_second).all()
    for cost in (up, core):
        if "peak" in cost.terms:
            assert (cost.seconds >= cost.terms["peak"]).all()
    assert "peak" in up.terms


@st.composite
def priced_models(draw: st.DrawFn) -> tuple[Any, int, str, str]:
    """(model, TP, system, calibration)."""
    model = draw(decoders())
    ranks = draw(st.sampled_from([one for one in legal_tensor_parallel(model) if one <= 8]))
    system = draw(st.sampled_from(SYSTEMS))
    names = (*bp.load_system(system).calibrations, "pooled")
    return model, ranks, system, draw(st.sampled_from(names))


@settings(max_examples=settings().max_examples // 2)
@given(priced_models(), st.sampled_from(["decode", "prefill"]))
def test_time_never_falls_as_batch_or_context_grows(chosen: tuple[Any, int, str, str], phase: str) -> None:
    model, ranks, name, calibration = chosen
    system = bp.load_system(name)
    assume(ranks <= (system.network[0].max_ranks or ranks))
    provider = provider_of(system, "calibrated", calibration)
    # A prompt of one token is another kernel: it is compared with no longer one.
    contexts = CONTEXTS if phase == "decode" else CONTEXTS[1:]
    block = priced(grid(BATCHES, contexts, model, ranks, phase), provider, system)
    shape = (len(BATCHES), len(contexts))
    for activity, cost in block.priced:
        seconds = np.broadcast_to(cost.seconds, shape)
        for axis in (0, 1):
            assert (np.diff(seconds, axis=axis) >= -1e-12 * seconds.max()).all(), activity.component
    assert (np.diff(block.seconds, axis=0) >= 0).all() or np.allclose(np.diff(block.seconds, axis=0).clip(max=0), 0)


@settings(max_examples=settings().max_examples // 2)
@given(priced_models())
def test_bands_hold_their_estimate_and_no_step_beats_the_memory(chosen: tuple[Any, int, str, str]) -> None:
    model, ranks, name, calibration = chosen
    system = bp.load_system(name)
    assume(ranks <= (system.network[0].max_ranks or ranks))
    block = priced(grid(BATCHES, CONTEXTS, model, ranks), provider_of(system, "calibrated", calibration), system)
    assert block.band is not None
    assert (block.band.low_seconds <= block.seconds).all()
    assert (block.seconds <= block.band.high_seconds).all()
    of_devices = [load_calibration(one, system).machine for one in system.calibrations]
    rate = max([system.memory.bytes_per_second, *(one.bytes_per_second for one in of_devices if one is not None)])
    must_read = 0.0
    for activity, cost in block.priced:
        assert cost.band is not None
        assert (np.asarray(cost.band.low_seconds) <= cost.seconds).all()
        assert (np.asarray(cost.seconds) <= cost.band.high_seconds).all()
        if activity.unit == "matrix":
            must_read = must_read + activity.executions * _weights_and_cache(activity, block.activity)
    assert (block.seconds >= np.asarray(must_read) / rate).all()


def _weights_and_cache(component: Any, activity: Activity) -> Any:
    """Bytes that one execution of a matrix component has to fetch from the memory."""
    sizes = component.sizes
    if component.component == "attention_core":
        return 2 * 2 * np.asarray(activity.statistics["context"]) * sizes["kv_width"]
    widths = {
        "qkv_projection": ("hidden", "qkv_width"),
        "output_projection": ("hidden", "query_width"),
        "mlp_up": ("hidden", "up_width"),
        "mlp_down": ("hidden", "inner"),
        "lm_head": ("hidden", "vocab_rows"),
    }[component.component]
    return 2 * sizes[widths[0]] * sizes[widths[1]]


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_the_first_tokens_never_make_a_step_quicker(system: str, phase: str) -> None:
    """One token that sees itself alone may be done by either kernel of attention."""
    for model in ("llama-2-7b", "phi-2"):
        frame = bp.sweep(model, system, mode="calibrated", phase=phase, context_tokens=[1, 2, 3])
        assert frame["seconds"].is_sorted()
