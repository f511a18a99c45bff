"""Views of a request agree with one another: steps, sweeps, mapping tables, memory over context."""

from __future__ import annotations

import polars as pl
import pytest
from architectures import legal_tensor_parallel, mapped_models, planned
from hypothesis import given
from hypothesis import strategies as st

import blueprint_nb as bp
from blueprint_nb.analysis import estimate_inference_phase, mapping_table
from blueprint_nb.analysis.step import bound_of, step_of
from blueprint_nb.cost import AnalyticalProvider
from blueprint_nb.errors import InvalidInputError
from blueprint_nb.mapping import NetworkTierBinding
from blueprint_nb.workload import TransformerModelSpec, WorkloadBinding

A100 = bp.load_system("a100_80g")
ESTIMATE = bp.estimate("phi-2", A100, tensor_parallel=2, pipeline_parallel=2, prompt_tokens=30, generated_tokens=9)


@given(
    mapped_models(most_ranks=8), st.integers(1, 50), st.integers(1, 500), st.integers(2, 20),
    st.sampled_from(["peak-only", "system-evidence"]),
)  # fmt: skip
def test_an_estimate_is_a_sweep_over_its_contexts(
    mapped: tuple[TransformerModelSpec, int, int], batch: int, prompt: int, generated: int, mode: str
) -> None:
    model, ranks, stages = mapped
    mapping = {"tensor_parallel": ranks, "pipeline_parallel": stages, "batch_size": batch, "mode": mode}
    est = bp.estimate(model, A100, prompt_tokens=prompt, generated_tokens=generated, **mapping)
    prefill = bp.sweep(model, A100, context_tokens=prompt, phase="prefill", **mapping)
    decode = bp.sweep(model, A100, context_tokens=range(prompt + 1, prompt + generated), **mapping)
    assert est.prefill_seconds == prefill["seconds"][0]
    assert est.decode["seconds"].to_list() == decode["seconds"].to_list()
    assert est.memory.total_bytes == max(prefill["total_bytes"][0], decode["total_bytes"].max())
    totals = est.memory_by_context.select(pl.sum_horizontal(pl.exclude("phase", "context_tokens"))).to_series()
    assert totals.to_list() == [prefill["total_bytes"][0], *decode["total_bytes"]]


@given(mapped_models(most_ranks=8), st.integers(1, 50), st.integers(1, 500), st.integers(1, 9))
def test_every_decode_step_is_its_own_plan_priced_alone(
    mapped: tuple[TransformerModelSpec, int, int], batch: int, prompt: int, steps: int
) -> None:
    model, ranks, stages = mapped
    mapping = {"tensor_parallel": ranks, "pipeline_parallel": stages}
    est = bp.estimate(model, A100, prompt_tokens=prompt, generated_tokens=steps + 1, batch_size=batch, **mapping)
    for context, seconds, stack_seconds in est.decode.select("context_tokens", "seconds", "stack_seconds").iter_rows():
        workload = WorkloadBinding.decode(batch_size=batch, context_tokens=context, datatype="float16")
        plan = planned(model, workload, **mapping).bound
        phase = estimate_inference_phase(plan, A100, NetworkTierBinding(), AnalyticalProvider("system-evidence"))
        assert (seconds, stack_seconds) == (phase.seconds, phase.stack_seconds)
        assert est.bound_plan(est.decode_plan(context)) == plan


@pytest.mark.parametrize(("phase", "context"), [("prefill", 30), ("decode", 31), ("decode", 35), ("decode", 38)])
def test_a_step_is_the_rows_of_its_context(phase: str, context: int) -> None:
    step = step_of(ESTIMATE, phase, context)
    rows = ESTIMATE.components.filter(pl.col("phase") == phase, pl.col("context_tokens") == context)
    activities, costs = step.costs.activity.components, step.costs.costs
    assert rows["component"].to_list() == [activity.component for activity in activities]
    assert rows["operations"].to_list() == [activity.operations for activity in activities]
    assert rows["seconds"].to_list() == [cost.seconds for cost in costs]
    assert rows["bound"].to_list() == [bound_of(*pair) for pair in zip(activities, costs, strict=True)]
    expected = ESTIMATE.prefill_seconds if phase == "prefill" else ESTIMATE.decode["seconds"][context - 31]
    assert step.seconds == expected


def test_the_last_step_is_the_default_and_others_are_refused() -> None:
    assert step_of(ESTIMATE, "decode").context_tokens == 38
    for context in (30, 39):
        with pytest.raises(InvalidInputError) as caught:
            step_of(ESTIMATE, "decode", context)
        message = f"context_tokens must be a visible context from 31 to 38. Got {context}."
        assert str(caught.value) == message


def test_a_mapping_table_has_every_legal_mapping_fewest_devices_first() -> None:
    est = bp.estimate("llama-3.1-8b", A100, prompt_tokens=30, generated_tokens=3, batch_size=4, replicas=2)
    table = mapping_table(est.inputs, most_devices=16)
    pairs = table.select("tensor_parallel", "pipeline_parallel").rows()
    legal = [t for t in legal_tensor_parallel(est.inputs.model) if t <= 8]
    expected = [(t, p) for t in legal for p in (1, 2, 4, 8, 16, 32) if t * p <= 16]
    assert pairs == sorted(expected, key=lambda pair: (pair[0] * pair[1], pair[1]))
    for row in table.iter_rows(named=True):
        alone = bp.estimate(
            "llama-3.1-8b",
            A100,
            prompt_tokens=30,
            generated_tokens=3,
            batch_size=4,
            tensor_parallel=row["tensor_parallel"],
            pipeline_parallel=row["pipeline_parallel"],
        )
        assert row["devices"] == alone.devices
        assert row["fits"] == alone.memory.fits
        assert row["total_bytes"] == alone.memory.total_bytes
        assert row["prefill_seconds"] == alone.prefill_seconds
        assert row["decode_step_seconds"] == alone.decode["seconds"][-1]
        assert row["tokens_per_second"] == alone.tokens_per_second
        assert row["tokens_per_second_per_device"] == alone.tokens_per_second / alone.devices
        assert row["tokens_per_second_per_sequence"] == alone.tokens_per_second_per_sequence


def test_a_mapping_table_without_decode_steps_has_nulls_for_them() -> None:
    est = bp.estimate("phi-2", A100, prompt_tokens=30, generated_tokens=1)
    table = mapping_table(est.inputs, most_devices=2)
    assert table["decode_step_seconds"].to_list() == [None] * 3
    assert table.schema["decode_step_seconds"] == pl.Float64
