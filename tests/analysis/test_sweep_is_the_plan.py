"""Every point of a sweep is the plan built for it: work, bytes, memory and seconds, to the last bit."""

from __future__ import annotations

from itertools import product

import polars as pl
import pytest
from architectures import KERNELS, dense_mha, divisors, legal_tensor_parallel, models, planned
from hypothesis import given
from hypothesis import strategies as st

import blueprint_nb as bp
from blueprint_nb.analysis import estimate_inference_phase
from blueprint_nb.cost import AnalyticalProvider
from blueprint_nb.errors import InvalidInputError
from blueprint_nb.ir import BoundPlan
from blueprint_nb.mapping import NetworkTierBinding
from blueprint_nb.workload import InferencePhase

SYSTEMS = [bp.load_system("a100_80g"), bp.load_system("h100_80g_nvl8")]
WORK = ("operations", "read_bytes", "write_bytes", "message_bytes")
TERMS = ("compute_seconds", "memory_seconds", "network_seconds", "seconds")


def fullest(plan: BoundPlan) -> dict[str, int]:
    """Parts of the fullest stage of a plan, summed here from its buffers as Python ints."""
    stages: dict[str, dict[str, int]] = {}
    for buffer, size in zip(plan.template.buffers, plan.buffer_bytes, strict=True):
        parts = stages.setdefault(buffer.stage, {"weights": 0, "kv_cache": 0, "fixed": 0, "largest": 0})
        if buffer.transient:
            parts["largest"] = max(parts["largest"], size)
        else:
            kind = buffer.kind if buffer.kind in parts else "fixed"
            parts[kind] += size
    held = max(stages.values(), key=lambda parts: sum(parts.values()))
    return {
        "total_bytes": sum(held.values()),
        "weights_bytes": held["weights"],
        "kv_cache_bytes": held["kv_cache"],
    }


@st.composite
def sweeps(draw: st.DrawFn) -> dict[str, object]:
    model = draw(models())
    ranks = [size for size in legal_tensor_parallel(model) if size <= 8]
    axis = st.lists(st.integers(1, 4096), min_size=1, max_size=3)
    return {
        "model": model,
        "system": draw(st.sampled_from(SYSTEMS)),
        "tensor_parallel": draw(st.lists(st.sampled_from(ranks), min_size=1, max_size=2)),
        "pipeline_parallel": draw(st.lists(st.sampled_from(divisors(model.block_count)), min_size=1, max_size=2)),
        "batch_size": draw(axis),
        "context_tokens": draw(axis),
        "phase": draw(st.sampled_from(["prefill", "decode"])),
        "mode": draw(st.sampled_from(["peak-only", "system-evidence"])),
        "attention": draw(st.sampled_from(KERNELS)),
    }


@given(sweeps())
def test_a_point_is_the_plan_built_for_it(case: dict[str, object]) -> None:
    points = bp.sweep(**case)
    long = bp.sweep(by_component=True, **case)
    axes = ("tensor_parallel", "pipeline_parallel", "batch_size", "context_tokens")
    assert points.select(axes).rows() == list(product(*(case[name] for name in axes)))
    start = 0
    for row in points.iter_rows(named=True):
        workload = InferencePhase(case["phase"]).workload(
            batch_size=row["batch_size"], context_tokens=row["context_tokens"], datatype="float16"
        )
        plan = planned(
            case["model"],
            workload,
            tensor_parallel=row["tensor_parallel"],
            pipeline_parallel=row["pipeline_parallel"],
            attention=case["attention"],
        ).bound
        provider = AnalyticalProvider(case["mode"])
        phase = estimate_inference_phase(plan, case["system"], NetworkTierBinding(), provider)
        assert row["feasible"]
        assert row["reason"] is None
        assert row["seconds"] == phase.seconds
        assert {name: row[name] for name in ("total_bytes", "weights_bytes", "kv_cache_bytes")} == fullest(plan)
        assert row["fits"] == (row["total_bytes"] <= case["system"].memory.usable_bytes)
        assert row["devices"] == row["tensor_parallel"] * row["pipeline_parallel"]

        rows = long[start : start + len(plan.template.tasks)]
        start += len(rows)
        assert rows.select(axes).unique().rows() == [tuple(row[name] for name in axes)]
        assert rows["component"].to_list() == [task.component for task in plan.template.tasks]
        assert rows["count"].to_list() == [task.executions for task in plan.template.tasks]
        for name in WORK:
            assert rows[name].to_list() == [getattr(work, name) for work in plan.work]
        for name in TERMS:
            assert rows[name].to_list() == [float(getattr(cost, name)) for cost in phase.costs.costs]
    assert start == len(long)


@given(sweeps(), st.data())
def test_the_order_of_an_axis_is_the_order_of_the_rows(case: dict[str, object], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["tensor_parallel", "pipeline_parallel", "batch_size", "context_tokens"]))
    order = data.draw(st.permutations(range(len(case[name]))))
    rows = bp.sweep(**case)
    shape = [len(case[axis]) for axis in ("tensor_parallel", "pipeline_parallel", "batch_size", "context_tokens")]
    position = ["tensor_parallel", "pipeline_parallel", "batch_size", "context_tokens"].index(name)
    permuted = bp.sweep(**{**case, name: [case[name][index] for index in order]})
    indices = []
    for point in product(*(range(size) for size in shape)):
        source = list(point)
        source[position] = order[point[position]]
        flat = 0
        for size, index in zip(shape, source, strict=True):
            flat = flat * size + index
        indices.append(flat)
    assert permuted.equals(rows[indices])


def largest_batch(model: bp.TransformerModelSpec, context: int, phase: str) -> int:
    """The largest batch whose plan can be made."""
    low, high = 1, 10**12
    while low < high:
        middle = (low + high + 1) // 2
        try:
            planned(
                model,
                InferencePhase(phase).workload(batch_size=middle, context_tokens=context, datatype="float32"),
                attention="unfused",
            )
        except InvalidInputError:
            high = middle - 1
        else:
            low = middle
    return low


@pytest.mark.parametrize("phase", ["prefill", "decode"])
@pytest.mark.parametrize("context", [1, 4096])
@pytest.mark.parametrize("hidden", [64, 2**20])
def test_counts_are_exact_up_to_2_to_the_63_and_an_error_beyond(phase: str, context: int, hidden: int) -> None:
    model = dense_mha(hidden_size=hidden, attention_head_size=hidden // 8, feedforward_size=4 * hidden, block_count=96)
    batch = largest_batch(model, context, phase)
    case = {
        "model": model,
        "system": "h100_80g_nvl8",
        "context_tokens": context,
        "phase": phase,
        "datatype": "float32",
        "mode": "peak-only",
    }
    custom = bp.load_system("h100_80g_nvl8").with_overrides(
        {"matrix.float32_tflop_per_s": 60, "vector.float32_tflop_per_s": 60}
    )
    case["system"] = custom
    workload = InferencePhase(phase).workload(batch_size=batch, context_tokens=context, datatype="float32")
    plan = planned(model, workload, attention="unfused").bound
    assert max(max(work) for work in plan.work) < 2**63
    assert max(work.read_bytes + work.write_bytes for work in plan.work) < 2**63
    assert fullest(plan)["total_bytes"] < 2**63
    row = bp.sweep(batch_size=batch, **case).row(0, named=True)
    assert {name: row[name] for name in ("total_bytes", "weights_bytes", "kv_cache_bytes")} == fullest(plan)
    assert not row["fits"]
    rows = bp.sweep(batch_size=batch, by_component=True, **case)
    for name in WORK:
        assert rows[name].to_list() == [getattr(work, name) for work in plan.work]
    phase_seconds = estimate_inference_phase(
        plan, custom, NetworkTierBinding(), AnalyticalProvider("peak-only")
    ).seconds
    assert row["seconds"] == phase_seconds
    if batch < 10**12:
        with pytest.raises(InvalidInputError, match=r"must stay below 2\^63, so that every count is exact"):
            bp.sweep(batch_size=[1, batch + 1], **case)


def test_memory_past_2_to_the_63_is_an_error_though_each_part_is_below() -> None:
    batch = 6_871_947_673
    assert 2**63 - 2 * 32 * 2560 * 2 * 4096 * batch in range(2**32)
    with pytest.raises(InvalidInputError) as caught:
        bp.sweep("phi-2-dense-mha", "a100_80g", batch_size=batch, context_tokens=4096)
    assert str(caught.value) == (
        "only.bytes must stay below 2^63, so that every count is exact. Got 9.223e+18. "
        "Use a smaller batch, context or model."
    )


def test_a_request_past_2_to_the_63_is_an_error() -> None:
    with pytest.raises(InvalidInputError) as caught:
        bp.estimate("llama-2-7b", "a100_80g", batch_size=10**12)
    assert str(caught.value) == (
        "embedding.read_bytes + write_bytes must stay below 2^63, so that every count is exact. Got 1.678e+19. "
        "Use a smaller batch, context or model."
    )


def test_a_point_beyond_the_model_does_not_count_towards_2_to_the_63() -> None:
    frame = bp.sweep("phi-2-dense-mha", "a100_80g", batch_size=10**6, context_tokens=[1, 10**12])
    assert frame["feasible"].to_list() == [True, False]


def test_components_of_a_point_add_up_to_it() -> None:
    case = {"batch_size": [1, 7], "context_tokens": [10, 1000], "tensor_parallel": [1, 4], "pipeline_parallel": [1, 4]}
    points = bp.sweep("llama-3.1-8b", "h100_80g_nvl8", **case)
    long = bp.sweep("llama-3.1-8b", "h100_80g_nvl8", by_component=True, **case)
    sums = long.group_by(list(case), maintain_order=True).agg((pl.col("seconds") * pl.col("count")).sum())
    assert sums["seconds"].to_list() == pytest.approx(points["seconds"].to_list(), rel=1e-12)
