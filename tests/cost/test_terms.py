"""Seconds of one component by hand: compute, memory, network, and how they combine."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from architectures import decoder, planned
from hypothesis import given
from hypothesis import strategies as st

import blueprint_nb as bp
from blueprint_nb.analysis import estimate_inference_phase
from blueprint_nb.cost import (
    Activity,
    AnalyticalProvider,
    ComponentActivity,
    ComponentCost,
    CostProvider,
    plan_activity,
)
from blueprint_nb.mapping import NetworkTierBinding
from blueprint_nb.workload import STATISTICS, WorkloadBinding

A100 = bp.load_system("a100_80g")
H100 = bp.load_system("h100_80g_nvl8")
PEAK, EVIDENCE = AnalyticalProvider("peak-only"), AnalyticalProvider("system-evidence")


def component(unit: str = "matrix", operations: int = 0, read: int = 0, write: int = 0) -> ComponentActivity:
    return ComponentActivity(
        component="it",
        primitive="it",
        source_layer="attention",
        unit=unit,
        executions=1,
        collective=None,
        ranks=1,
        operations=operations,
        read_bytes=read,
        write_bytes=write,
        message_bytes=0,
    )


def message(size: int, collective: str, ranks: int) -> ComponentActivity:
    return dataclasses.replace(
        component("network"), collective=collective, ranks=ranks, message_bytes=size, operations=0
    )


def cost(
    activity: ComponentActivity,
    provider: CostProvider,
    system: bp.SystemProfile = A100,
    tier: int = 0,
    datatype: str = "float16",
) -> ComponentCost:
    network = NetworkTierBinding(tensor_parallel_network=tier, pipeline_parallel_network=tier)
    return provider.cost(Activity(datatype, (activity,)), system, network).costs[0]


MATRIX = [(0, 0.0), (10**9 - 1, 0.1), (10**9, 0.6), (16 * 10**9, 0.9), (128 * 10**9 - 1, 0.9), (128 * 10**9, 0.95)]
VECTOR = [(1, 0.1), (10**9, 0.5), (16 * 10**9 - 1, 0.5), (16 * 10**9, 0.95)]
MEMORY = [(1, 0.3), (10**6 - 1, 0.3), (10**6, 0.6), (10**7, 0.75), (10**8 - 1, 0.75), (10**8, 0.9)]


@pytest.mark.parametrize(("operations", "fraction"), MATRIX)
def test_matrix_operations_reach_the_fraction_of_their_size(operations: int, fraction: float) -> None:
    assert cost(component(operations=operations), PEAK).compute_seconds == pytest.approx(operations / 312e12)
    expected = operations / (312e12 * fraction) if operations else 0
    assert cost(component(operations=operations), EVIDENCE).seconds == pytest.approx(expected)


@pytest.mark.parametrize(("operations", "fraction"), VECTOR)
def test_vector_operations_have_their_own_peak_and_curve(operations: int, fraction: float) -> None:
    assert cost(component("vector", operations), PEAK).seconds == pytest.approx(operations / 78e12)
    assert cost(component("vector", operations), EVIDENCE).seconds == pytest.approx(operations / (78e12 * fraction))


@pytest.mark.parametrize(("traffic", "fraction"), MEMORY)
def test_reads_and_writes_together_reach_the_fraction_of_their_size(traffic: int, fraction: float) -> None:
    half = component(read=traffic // 2, write=traffic - traffic // 2)
    assert cost(half, PEAK).seconds == pytest.approx(traffic / 2048e9)
    assert cost(half, EVIDENCE).memory_seconds == pytest.approx(traffic / (2048e9 * fraction))
    assert cost(half, EVIDENCE, H100).memory_seconds == pytest.approx(traffic / (3072e9 * fraction))


@given(st.integers(0, 10**15), st.integers(0, 10**13), st.sampled_from(["matrix", "vector"]))
def test_no_overlap_adds_and_roofline_takes_the_larger(operations: int, traffic: int, unit: str) -> None:
    roofline = A100.model_copy(update={"processing_mode": "roofline"})
    activity = component(unit, operations, traffic)
    for provider in (PEAK, EVIDENCE):
        added, larger = cost(activity, provider), cost(activity, provider, roofline)
        assert added.seconds == added.compute_seconds + added.memory_seconds
        assert larger.seconds == max(larger.compute_seconds, larger.memory_seconds)
        assert (added.compute_seconds, added.memory_seconds) == (larger.compute_seconds, larger.memory_seconds)
        assert added.network_seconds == larger.network_seconds == 0


@given(st.lists(st.integers(0, 10**18), min_size=1, max_size=20))
def test_an_array_of_work_costs_what_each_of_its_values_does(work: list[int]) -> None:
    many = component("matrix", np.array(work, dtype=np.int64), np.array(work, dtype=np.int64))
    for provider in (PEAK, EVIDENCE):
        costs = cost(many, provider)
        for index, operations in enumerate(work):
            alone = cost(component("matrix", operations, operations), provider)
            assert costs.seconds[index] == alone.seconds
            assert costs.compute_seconds[index] == alone.compute_seconds


V = 10**8

NETWORK = [
    ("a100_80g", 0, "all_reduce", 8, (2 * V - 2 * V / 8) / 300e9, 10e-6, 0.65),
    ("a100_80g", 0, "all_reduce", 2, (2 * V - 2 * V / 2) / 300e9, 10e-6, 0.65),
    ("a100_80g", 0, "all_gather", 4, (1.5 * V - 1.5 * V / 4) / 300e9, 10e-6, 0.65),
    ("a100_80g", 0, "point_to_point", 2, V / 300e9, 10e-6, 0.65),
    ("a100_80g", 1, "all_reduce", 64, V / 25e9, 20e-6, 0.9),
    ("a100_80g", 1, "point_to_point", 2, V / 25e9, 20e-6, 0.9),
    ("h100_80g_nvl8", 0, "all_reduce", 8, (V + V / 8) / 450e9, 10e-6, 0.65),
    ("h100_80g_nvl8", 0, "all_gather", 8, V / 450e9, 10e-6, 0.65),
    ("h100_80g_nvl8", 0, "point_to_point", 2, V / 450e9, 10e-6, 0.65),
    ("h100_80g_nvl8", 1, "all_reduce", 16, V / 50e9, 20e-6, 0.9),
]


@pytest.mark.parametrize(("name", "tier", "collective", "ranks", "transfer", "latency", "fraction"), NETWORK)
def test_a_collective_takes_one_latency_and_its_transfer(
    name: str, tier: int, collective: str, ranks: int, transfer: float, latency: float, fraction: float
) -> None:
    system, activity = bp.load_system(name), message(V, collective, ranks)
    peak, evidence = cost(activity, PEAK, system, tier), cost(activity, EVIDENCE, system, tier)
    assert peak.seconds == pytest.approx(latency + transfer, rel=1e-12)
    assert evidence.seconds == pytest.approx(latency + transfer / fraction, rel=1e-12)
    assert (peak.network_seconds, peak.compute_seconds, peak.memory_seconds) == (peak.seconds, 0, 0)


@pytest.mark.parametrize("provider", [PEAK, EVIDENCE], ids=lambda provider: provider.name)
def test_an_empty_message_takes_the_latency_and_one_rank_takes_nothing(provider: CostProvider) -> None:
    assert cost(message(0, "all_reduce", 8), provider).seconds == pytest.approx(10e-6, rel=1e-12)
    assert cost(message(V, "all_reduce", 1), provider).seconds == 0


@pytest.mark.parametrize("mode", ["peak-only", "system-evidence"])
def test_tensor_and_pipeline_traffic_go_over_the_tiers_they_are_bound_to(mode: str) -> None:
    workload = WorkloadBinding.decode(batch_size=4, context_tokens=9, datatype="float16")
    plan = planned(decoder(), workload, tensor_parallel=2, pipeline_parallel=2).bound
    near, far = (
        estimate_inference_phase(plan, A100, NetworkTierBinding(**binding), AnalyticalProvider(mode)).component_seconds
        for binding in ({}, {"pipeline_parallel_network": 1})
    )
    size, fractions = 4 * 64 * 2, (0.65, 0.9) if mode == "system-evidence" else (1, 1)
    assert near["pipeline_send"] == pytest.approx(10e-6 + size / 300e9 / fractions[0], rel=1e-12)
    assert far["pipeline_send"] == pytest.approx(20e-6 + size / 25e9 / fractions[1], rel=1e-12)
    assert {name: s for name, s in near.items() if name != "pipeline_send"} == {
        name: s for name, s in far.items() if name != "pipeline_send"
    }


def test_seconds_of_block_stack_and_model_are_three_things() -> None:
    workload = WorkloadBinding.decode(batch_size=4, context_tokens=9, datatype="float16")
    plan = planned(decoder(), workload, tensor_parallel=2, pipeline_parallel=2).bound
    phase = estimate_inference_phase(plan, A100, NetworkTierBinding(), EVIDENCE)
    each = phase.component_seconds
    ends = {"embedding", "embedding_all_reduce", "final_norm", "lm_head", "lm_head_all_gather"}
    block = sum(s for name, s in each.items() if name not in ends and name != "pipeline_send")
    assert phase.block_seconds == pytest.approx(block, rel=1e-12)
    assert phase.stack_seconds == pytest.approx(4 * block + each["pipeline_send"], rel=1e-12)
    assert phase.seconds == pytest.approx(phase.stack_seconds + sum(each[name] for name in ends), rel=1e-12)


def test_activity_holds_no_workload_and_a_cost_only_names_its_maker() -> None:
    workload = WorkloadBinding.decode(batch_size=4, context_tokens=9, datatype="float16")
    activity = plan_activity(planned(decoder(), workload).bound)
    names = {field.name for field in dataclasses.fields(activity)}
    names |= {field.name for field in dataclasses.fields(activity.components[0])}
    assert not names & {*STATISTICS, "workload", "phase", "batch_size", "context_tokens", "query_tokens", "model"}
    block = EVIDENCE.cost(activity, A100, NetworkTierBinding())
    assert (block.provider, block.system_revision) == ("system-evidence", A100.revision)


def test_without_a_switch_a_small_group_has_only_the_links_between_its_devices() -> None:
    # 8,192 B each of 16,384 tokens; two devices share one link of 64 GB/s, eight share all seven.
    for ranks, bandwidth in ((2, 64e9), (4, 192e9), (8, 448e9)):
        estimate = bp.estimate(
            "llama-3.1-70b",
            "mi300x_192g",
            mode="peak-only",
            tensor_parallel=ranks,
            batch_size=8,
            prompt_tokens=2048,
            generated_tokens=1,
        )
        sent = 2 * 16_384 * 8_192 * 2
        expected = 10e-6 + (sent - sent / ranks) / bandwidth
        assert estimate.prefill.component_seconds["mlp_all_reduce"] == pytest.approx(expected, rel=1e-12)
