"""What the verdict says of bands, of floors, and of whose parameters it went by."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import polars as pl
import pytest

import blueprint_nb as bp
from blueprint_nb.analysis.bands import band_at, band_text, between, rate_band_text
from blueprint_nb.analysis.priced_by import calibrated_by, shares_of
from blueprint_nb.analysis.step import step_of
from blueprint_nb.analysis.unfelt import unfelt_overrides
from blueprint_nb.catalog import load_system
from blueprint_nb.cost import Activity, Band, ComponentActivity, ComponentCost, CostBlock, Origin
from blueprint_nb.units import format_percent, three_digits

SYSTEM = "h100_80g_sxm"


def block(*parts: tuple[str, str, float]) -> CostBlock:
    """Costs of one execution each: family, provider, seconds."""
    activities = tuple(
        ComponentActivity(family, family, "mlp", "matrix", 1, None, 1, 0, 0, 0, 0) for family, _, _ in parts
    )
    costs = tuple(
        ComponentCost(
            0.0, seconds, 0.0, seconds, family=family, origins=(Origin(provider, "r", "calibrated", "in range"),)
        )
        for family, provider, seconds in parts
    )
    return CostBlock(Activity("float16", activities), costs, provider="stack", system_revision="r")


def test_a_calibrated_verdict_gives_the_band_of_its_decode_steps() -> None:
    estimate = bp.estimate("llama-3.1-8b", SYSTEM, generated_tokens=3)
    band = estimate.decode_band
    assert band is not None
    low, high = three_digits(1e3 * min(band.low_seconds)), three_digits(1e3 * max(band.high_seconds))
    assert estimate.verdict.latency.endswith(f" ms/step at contexts 1,025–1,026, 90 % between {low} and {high}")


def test_one_step_has_the_band_of_its_own() -> None:
    estimate = bp.estimate("llama-3.1-8b", SYSTEM, generated_tokens=2)
    found = re.fullmatch(
        r"decode (\S+) ms/step at context 1,025, 90 % between (\S+) and (\S+)", estimate.verdict.latency
    )
    assert found
    step, low, high = map(float, found.groups())
    assert low < step < high


def test_steps_that_leave_the_first_band_have_one_at_each_end() -> None:
    latency = bp.estimate("llama-3.1-8b", SYSTEM, batch_size=8, generated_tokens=60_000).verdict.latency
    found = re.search(r", 90 % between (\S+) and (\S+), at the end between (\S+) and (\S+)$", latency)
    assert found
    first_low, first_high, last_low, last_high = map(float, found.groups())
    assert first_low < first_high < last_high
    assert first_low < last_low < last_high


def test_a_request_of_one_token_has_the_band_of_its_prefill() -> None:
    latency = bp.estimate("llama-3.1-8b", SYSTEM, generated_tokens=1).verdict.latency
    assert re.fullmatch(r"prefill \S+ ms, 90 % between \S+ and \S+, no decode step", latency)


@pytest.mark.parametrize("mode", ["peak-only", "system-evidence"])
def test_an_analytical_verdict_has_no_band_and_no_basis(mode: str) -> None:
    verdict = bp.estimate("llama-3.1-8b", "h100_80g_nvl8", mode=mode, generated_tokens=3).verdict
    assert "90 %" not in verdict.text
    assert "calibrated" not in verdict.text
    assert verdict.basis == ""


@pytest.mark.parametrize("tensor_parallel", [1, 8])
def test_floors_count_apart_from_the_term_that_bounds_the_rest(tensor_parallel: int) -> None:
    estimate = bp.estimate("llama-3.1-8b", SYSTEM, tensor_parallel=tensor_parallel, generated_tokens=2)
    rows = estimate.components.filter(pl.col("phase") == "decode").to_dicts()
    seconds = dict.fromkeys(("memory", "compute", "network", "floor"), 0.0)
    for row in rows:
        largest = max(("memory", "compute", "network"), key=lambda name: row[f"{name}_seconds"])
        seconds["floor"] += row["count"] * row["floor_seconds"]
        seconds[largest] += row["count"] * (row["seconds"] - row["floor_seconds"])
    assert sum(seconds.values()) == pytest.approx(float(estimate.decode_seconds[0]), rel=1e-12)
    name = max(seconds, key=lambda term: seconds[term])
    words = "bound by launches and waits" if name == "floor" else f"{name}-bound"
    share = format_percent(seconds[name] / sum(seconds.values()))
    assert estimate.verdict.bound == f"{words} ({share} of the time)"


def test_the_basis_names_the_calibration_and_what_comes_from_others() -> None:
    costs = block(
        ("gemm", "calibrated:vllm-0.24", 5.0),
        ("rms_norm", "calibrated:vidur", 1.0),
        ("rope", "calibrated:vidur", 0.5),
        ("layer_norm", "calibrated:vidur", 1.0),
        ("add", "calibrated:vidur", 0.1),
        ("embedding", "calibrated:vidur", 0.01),
        ("attention_decode", "calibrated:pooled", 2.0),
        ("all_reduce", "calibrated:pooled", 0.0),
    )
    assert calibrated_by("vllm-0.24", costs) == (
        "calibrated by vllm-0.24; from vidur: norms, RoPE and 2 more; from pooled: attention"
    )
    assert [(share.name, share.seconds) for share in shares_of(costs)] == [
        ("vllm-0.24", 5.0),
        ("vidur", pytest.approx(2.61)),
        ("pooled", 2.0),
    ]


def test_a_calibration_that_prices_all_of_it_stands_alone() -> None:
    assert calibrated_by("pooled", block(("gemm", "calibrated:pooled", 1.0))) == "calibrated by pooled"
    verdict = bp.estimate("llama-3.1-8b", SYSTEM, calibration="pooled", generated_tokens=2).verdict
    assert verdict.basis == "calibrated by pooled"
    assert verdict.parts[-1] == verdict.basis


def test_what_is_no_calibration_is_named_as_it_is() -> None:
    costs = block(("gemm", "user-asserted:mine.csv", 1.0), ("add", "calibrated:vidur", 1.0))
    assert calibrated_by("vidur", costs) == "calibrated by vidur: residual adds; from user-asserted:mine.csv: GEMM"


def test_a_set_that_prices_little_says_what_and_one_that_prices_nothing_says_so() -> None:
    costs = block(("gemm", "calibrated:vllm-0.14", 5.0), ("all_reduce", "calibrated:vidur", 1.0))
    assert calibrated_by("vidur", costs) == "calibrated by vidur: all reduce; from vllm-0.14: GEMM"
    costs = block(("gemm", "calibrated:vllm-0.14", 5.0), ("all_reduce", "calibrated:vidur", 0.0))
    assert calibrated_by("vidur", costs) == "calibrated, but nothing of it by vidur; from vllm-0.14: GEMM"


def test_on_the_a100_sxm_vidur_prices_the_collectives_alone() -> None:
    def basis(**arguments: Any) -> str:
        return bp.estimate(
            "llama-3.1-8b", "a100_80g_sxm", generated_tokens=2, calibration="vidur", **arguments
        ).verdict.basis

    assert basis(tensor_parallel=2).startswith("calibrated by vidur: all reduce; from vllm-0.14: GEMM, attention")
    assert basis().startswith(
        "calibrated, but nothing of it by vidur; from vllm-0.14: GEMM and attention; from pooled: "
    )


def test_what_is_asserted_to_take_no_time_is_named_all_the_same() -> None:
    basis = bp.estimate("llama-3.1-8b", SYSTEM, generated_tokens=2, asserted={"lm_head": 0}).verdict.basis
    assert basis.endswith("; from user-asserted: lm head")


WHAT_IFS = {
    "compute_units": 264,
    "l2_cache_mib": 40,
    "processing_mode": "no_overlap",
    "matrix.float16_tflop_per_s": 700,
    "matrix.float8_tflop_per_s": 1500,
    "matrix.efficiency": [{"at_least_gflop": 0, "fraction": 0.5}],
    "vector.float16_tflop_per_s": 50,
    "memory.capacity_gib": 70,
    "memory.bandwidth_gb_per_s": 3000,
    "memory.usable_fraction": 0.8,
    "memory.efficiency": [{"at_least_mb": 0, "fraction": 0.5}],
    "network.0.name": "PCIe 5 x16",
    "network.0.bandwidth_gb_per_s": 400,
    "network.0.peer_bandwidth_gb_per_s": 100,
    "network.0.max_ranks": 2,
    "network.0.efficiency_fraction": 0.5,
    "network.0.latency_us": 50,
    "network.0.collectives.all_reduce.message_multiple": 3,
}
"""Of a system: an override of each kind of figure."""

UNFELT = {
    "processing_mode",
    "matrix.float8_tflop_per_s",
    "matrix.efficiency",
    "vector.float16_tflop_per_s",
    "memory.efficiency",
    "network.0.efficiency_fraction",
    "network.0.latency_us",
    "network.0.collectives.all_reduce.message_multiple",
}


KEPT = UNFELT - {"matrix.float8_tflop_per_s"} | {"memory.capacity_gib", "memory.usable_fraction", "network.0.max_ranks"}
"""What no form reads, in any datatype: a what-if of these is priced by the sets of its base."""

MAPPING = {"tensor_parallel": 2, "pipeline_parallel": 2}


def seconds_of(overrides: dict[str, object], calibration: str | None = "pooled", **mapping: int) -> tuple[float, float]:
    """Of prefill and decode on a what-if."""
    system = load_system(SYSTEM).with_overrides(overrides)
    estimate = bp.estimate("llama-3.1-8b", system, calibration=calibration, generated_tokens=2, **mapping)
    return float(estimate.prefill_seconds), float(estimate.decode_seconds[-1])


@pytest.mark.parametrize("path", WHAT_IFS)
def test_an_override_is_called_unfelt_where_only_analytical_modes_read_it(path: str) -> None:
    system = load_system(SYSTEM).with_overrides({path: WHAT_IFS[path]})
    assert unfelt_overrides(system, "float16") == ((path,) if path in UNFELT else ())


def test_all_unfelt_overrides_together_change_no_time_and_speed_changes_it() -> None:
    as_it_is = seconds_of({}, **MAPPING)
    assert seconds_of({path: WHAT_IFS[path] for path in sorted(UNFELT)}, **MAPPING) == as_it_is
    for path in ("compute_units", "memory.bandwidth_gb_per_s", "network.0.bandwidth_gb_per_s"):
        assert seconds_of({path: WHAT_IFS[path]}, **MAPPING) != as_it_is


@pytest.mark.parametrize("path", WHAT_IFS)
def test_an_override_keeps_the_sets_of_its_base_where_no_form_reads_it(path: str) -> None:
    base = load_system(SYSTEM)
    assert base.with_overrides({path: WHAT_IFS[path]}).calibrations == (base.calibrations if path in KEPT else ())


def test_all_kept_overrides_together_change_no_time_of_the_base_s_own_sets() -> None:
    assert seconds_of({path: WHAT_IFS[path] for path in sorted(KEPT)}, None, **MAPPING) == seconds_of(
        {}, None, **MAPPING
    )


def test_the_peak_of_the_requests_own_datatype_is_felt() -> None:
    system = load_system(SYSTEM).with_overrides({"matrix.float16_tflop_per_s": 700})
    assert unfelt_overrides(system, "float16") == ()
    assert unfelt_overrides(system, "bfloat16") == ("matrix.float16_tflop_per_s",)


def test_a_table_replaced_as_a_whole_is_felt_where_a_figure_in_it_may_be() -> None:
    system = load_system(SYSTEM)
    tables = {"matrix": system.matrix.model_dump(), "vector": system.vector.model_dump()}
    assert unfelt_overrides(system.with_overrides(tables), "float16") == ("vector",)


def basis_of(overrides: dict[str, object], mode: str = "calibrated") -> str:
    system = load_system(SYSTEM).with_overrides(overrides)
    return bp.estimate("llama-3.1-8b", system, mode=mode, generated_tokens=2).verdict.basis


def test_the_basis_of_a_what_if_names_what_the_calibration_does_not_feel() -> None:
    assert basis_of({"network.0.latency_us": 50}) == f"{basis_of({})}; it does not feel network.0.latency_us"
    assert basis_of({"compute_units": 264, "vector.float16_tflop_per_s": 50, "network.0.latency_us": 50}) == (
        "calibrated by pooled; it does not feel network.0.latency_us, vector.float16_tflop_per_s"
    )


def test_it_names_three_and_counts_the_others() -> None:
    assert basis_of({path: WHAT_IFS[path] for path in sorted(UNFELT)}) == (
        "calibrated by pooled; it does not feel matrix.efficiency, matrix.float8_tflop_per_s, memory.efficiency "
        f"and {len(UNFELT) - 3} more"
    )


def test_the_basis_of_a_what_if_that_is_felt_says_no_more() -> None:
    assert basis_of({"memory.bandwidth_gb_per_s": 3000}) == "calibrated by pooled"
    assert basis_of({"network.0.latency_us": 50}, mode="peak-only") == ""


@pytest.mark.parametrize("generated_tokens", [1, 3])
def test_what_is_asserted_to_take_no_time_is_bound_by_nothing_and_has_no_rate(generated_tokens: int) -> None:
    priced = bp.estimate("llama-2-7b", "a100_80g_pcie", generated_tokens=generated_tokens)
    nothing = dict.fromkeys(priced.components["component"].to_list(), 0.0)
    verdict = bp.estimate("llama-2-7b", "a100_80g_pcie", generated_tokens=generated_tokens, asserted=nothing).verdict
    assert verdict.bound == "bound by nothing: every component takes 0 s"
    assert verdict.throughput == "no rate, as it takes no time, on 1 device"


def test_a_band_is_said_in_the_unit_of_its_figure() -> None:
    band = Band(8.02e-4, 1.003e-3)
    assert band_text(band, 8.61e-4) == "802–1,003 µs"
    assert band_text(band, 8.61e-4, times=32) == "25.7–32.1 ms"
    assert between(band, 1e-3) == "90 % between 0.802 and 1.00"
    assert band_text(None, 1.0) == ""


def test_a_rate_lies_between_those_of_the_ends_of_a_time() -> None:
    assert rate_band_text(Band(0.5, 0.8), 128) == "160–256"
    assert rate_band_text(None, 128) == ""


def test_one_point_of_a_band_of_many_is_floats() -> None:
    assert band_at(Band(np.array([1.0, 2.0]), np.array([3.0, 4.0])), -1) == Band(2.0, 4.0)
    assert band_at(None, 0) is None


def test_a_step_taken_out_of_many_keeps_what_its_kernels_are_formed_of() -> None:
    estimate = bp.estimate("llama-3.1-8b", SYSTEM, batch_size=4, generated_tokens=5)
    statistics = step_of(estimate, "decode", 1027).costs.activity.statistics
    assert (statistics["sequences"], statistics["tokens"], statistics["context"]) == (4, 4, 4 * 1027)
    assert all(type(value) is int for value in statistics.values())


def test_the_json_of_a_calibrated_estimate_has_its_bands_and_the_revisions_of_its_sets() -> None:
    estimate = bp.estimate("llama-3.1-8b", SYSTEM, generated_tokens=3)
    content = json.loads(estimate.to_json())
    assert content["band_seconds"]["prefill"] == [estimate.prefill_band.low_seconds, estimate.prefill_band.high_seconds]
    assert set(content["band_seconds"]) == {"prefill", "mean_decode_step", "model_execution"}
    sets = {name for name in content["digests"] if name.startswith("calibrated:")}
    assert sets == set(estimate.components["provider"].unique())


def test_the_json_of_an_analytical_estimate_has_neither() -> None:
    content = json.loads(bp.estimate("llama-3.1-8b", "h100_80g_nvl8", generated_tokens=3).to_json())
    assert "band_seconds" not in content
    assert not [name for name in content["digests"] if name.startswith("calibrated:")]


def test_a_sweep_warns_of_what_of_a_what_if_it_does_not_feel() -> None:
    what_if = load_system(SYSTEM).with_overrides({"network.0.latency_us": 50})
    priced = ", ".join((*what_if.calibrations[1:], "pooled"))
    said = f"calibrated by {what_if.calibrations[0]}, else {priced}: it does not feel network.0.latency_us"
    with pytest.warns(UserWarning, match=f"^{re.escape(said)}$"):
        bp.sweep("llama-3.1-8b", what_if)
    # Any warning is an error: the mode that feels it says nothing.
    bp.sweep("llama-3.1-8b", what_if, mode="peak-only")
