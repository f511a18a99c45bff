"""An estimate through the front door: its names, columns, types and meanings."""

from __future__ import annotations

import json

import polars as pl
import pytest
from architectures import mapped_models
from hypothesis import given
from hypothesis import strategies as st

import blueprint_nb as bp
from blueprint_nb.ir import BoundPlan, PortablePlanIR
from blueprint_nb.workload import TransformerModelSpec

ESTIMATE = bp.estimate(
    "llama-3.1-8b",
    "h100_80g_nvl8",
    tensor_parallel=2,
    pipeline_parallel=4,
    replicas=3,
    batch_size=5,
    prompt_tokens=100,
    generated_tokens=20,
)

DECODE_SCHEMA = {
    "context_tokens": pl.Int64,
    "seconds": pl.Float64,
    "stack_seconds": pl.Float64,
    "plan_digest": pl.String,
}

COMPONENT_SCHEMA = {
    "phase": pl.String,
    "context_tokens": pl.Int64,
    "component": pl.String,
    "primitive": pl.String,
    "source_layer": pl.String,
    "seconds": pl.Float64,
    "count": pl.Int64,
    "operations": pl.Int64,
    "read_bytes": pl.Int64,
    "write_bytes": pl.Int64,
    "message_bytes": pl.Int64,
    "compute_seconds": pl.Float64,
    "memory_seconds": pl.Float64,
    "network_seconds": pl.Float64,
    "floor_seconds": pl.Float64,
    "bound": pl.String,
    "low_seconds": pl.Float64,
    "high_seconds": pl.Float64,
    "provider": pl.String,
    "revision": pl.String,
    "method": pl.String,
    "match": pl.String,
    "records": pl.String,
    "samples": pl.Int64,
    "spread_seconds": pl.Float64,
}


def test_the_front_door_has_its_names() -> None:
    assert sorted(bp.__all__) == bp.__all__
    calls = {
        "describe",
        "estimate",
        "kv_cache_bytes",
        "list_models",
        "list_systems",
        "load_model",
        "load_system",
        "sweep",
    }
    assert calls < set(bp.__all__)
    assert all(getattr(bp, name) is not None for name in bp.__all__)


def test_the_defaults_are_one_device_and_a_short_answer() -> None:
    est = bp.estimate("llama-3.1-8b", "h100_80g_nvl8")
    assert est.devices == 1
    assert len(est.decode) == 127
    assert est.decode["context_tokens"][0] == 1025
    assert est.inputs.mode == "system-evidence"
    assert est.inputs.request.datatype == "float16"


def test_decode_has_a_row_for_each_step_after_the_first_token() -> None:
    frame = ESTIMATE.decode
    assert frame.schema == pl.Schema(DECODE_SCHEMA)
    assert frame["context_tokens"].to_list() == list(range(101, 120))
    assert (frame["stack_seconds"] < frame["seconds"]).all()


def test_components_have_a_row_for_each_phase_and_context_in_plan_order() -> None:
    frame = ESTIMATE.components
    assert frame.schema == pl.Schema(COMPONENT_SCHEMA)
    plan = [task.component for task in ESTIMATE.prefill.plan.template.tasks]
    points = frame.group_by("phase", "context_tokens", maintain_order=True).agg("component").rows()
    assert points == [("prefill", 100, plan), *(("decode", context, plan) for context in range(101, 120))]


def test_the_hop_between_stages_is_counted_once_less_than_the_stages() -> None:
    counts = dict(ESTIMATE.components.select("component", "count").unique().rows())
    assert counts.pop("pipeline_send") == 4 - 1
    once = {"embedding", "embedding_all_reduce", "final_norm", "lm_head", "lm_head_all_gather"}
    assert {name: count for name, count in counts.items() if count == 1} == dict.fromkeys(once, 1)
    assert {count for name, count in counts.items() if name not in once} == {32}


def test_seconds_of_a_phase_are_the_sum_of_seconds_times_count() -> None:
    sums = ESTIMATE.components.group_by("phase", "context_tokens", maintain_order=True).agg(
        (pl.col("seconds") * pl.col("count")).sum().alias("seconds"),
        (pl.col("seconds") * pl.col("count"))
        .filter(pl.col("source_layer").is_in(["attention", "mlp", "pipeline"]))
        .sum()
        .alias("stack"),
    )
    assert sums["seconds"][0] == pytest.approx(ESTIMATE.prefill_seconds, rel=1e-12)
    assert sums["seconds"][1:].to_list() == pytest.approx(ESTIMATE.decode["seconds"].to_list(), rel=1e-12)
    assert sums["stack"][1:].to_list() == pytest.approx(ESTIMATE.decode["stack_seconds"].to_list(), rel=1e-12)


def test_a_component_is_bound_by_its_largest_term() -> None:
    for row in ESTIMATE.components.iter_rows(named=True):
        terms = {name: row[f"{name}_seconds"] for name in ("compute", "memory", "network")}
        assert terms[row["bound"]] == max(terms.values())
        assert row["seconds"] == pytest.approx(sum(terms.values()), rel=1e-12)


@given(mapped_models(most_ranks=8), st.integers(1, 9), st.integers(1, 300), st.integers(1, 40))
def test_a_request_is_its_prefill_and_its_decode_steps(
    mapped: tuple[TransformerModelSpec, int, int], batch: int, prompt: int, generated: int
) -> None:
    model, ranks, stages = mapped
    est = bp.estimate(
        model,
        "a100_80g",
        tensor_parallel=ranks,
        pipeline_parallel=stages,
        batch_size=batch,
        prompt_tokens=prompt,
        generated_tokens=generated,
    )
    steps = est.decode["seconds"].to_list()
    assert est.decode["context_tokens"].to_list() == list(range(prompt + 1, prompt + generated))
    assert est.model_execution_seconds == pytest.approx(est.prefill_seconds + sum(steps), rel=1e-12)
    if generated > 1:
        assert est.mean_decode_step_seconds == pytest.approx(sum(steps) / (generated - 1), rel=1e-12)
    else:
        assert est.mean_decode_step_seconds is None
    rate = generated / est.model_execution_seconds
    assert est.tokens_per_second_per_sequence == pytest.approx(rate, rel=1e-12)
    assert est.tokens_per_second == pytest.approx(batch * rate, rel=1e-12)
    if model.template == "dense-mha":
        assert est.decode["seconds"].to_list() == est.decode["stack_seconds"].to_list()


def test_rates_are_of_one_replica_and_devices_of_all() -> None:
    one = bp.estimate("phi-2", "a100_80g", tensor_parallel=2, pipeline_parallel=2, prompt_tokens=9, generated_tokens=3)
    three = bp.estimate(
        "phi-2", "a100_80g", tensor_parallel=2, pipeline_parallel=2, replicas=3, prompt_tokens=9, generated_tokens=3
    )
    assert (one.devices, three.devices) == (4, 12)
    assert one.tokens_per_second == three.tokens_per_second
    assert one.model_execution_seconds == three.model_execution_seconds
    assert one.memory == three.memory


def test_one_token_needs_no_decode_step() -> None:
    est = bp.estimate("phi-2", "a100_80g", prompt_tokens=9, generated_tokens=1)
    assert est.mean_decode_step_seconds is None
    assert est.model_execution_seconds == est.prefill_seconds
    assert est.decode.schema == pl.Schema(DECODE_SCHEMA)
    assert len(est.decode) == 0
    assert est.latency_drops == ()
    assert est.components["phase"].unique().to_list() == ["prefill"]
    data = json.loads(est.to_json())
    assert data["seconds"]["mean_decode_step"] is None
    assert list(data["plans"]) == ["prefill"]
    assert ", no decode step ·" in est.summary()


def test_the_last_context_may_fill_the_sequence_length() -> None:
    est = bp.estimate("phi-2", "a100_80g", prompt_tokens=2000, generated_tokens=49)
    assert est.decode["context_tokens"][-1] == 2048
    with pytest.raises(bp.BlueprintError):
        bp.estimate("phi-2", "a100_80g", prompt_tokens=2000, generated_tokens=50)


def test_the_summary_is_the_verdict_in_words() -> None:
    words = ESTIMATE.summary()
    gib = ESTIMATE.memory.total_bytes / 2**30
    first, last = (1e3 * ESTIMATE.decode["seconds"][index] for index in (0, -1))
    assert words.startswith(f"Fits · {gib:.1f} of 80.0 GiB usable per device · ")
    assert f" · decode {first:.2f} → {last:.2f} ms/step at contexts 101–119 · " in words
    assert "-bound (" in words
    assert words.endswith(f" · {ESTIMATE.tokens_per_second:,.0f} tokens/s per replica on 24 devices")
    assert ESTIMATE.verdict.text == words
    assert ESTIMATE.verdict.fits


def test_the_summary_of_what_does_not_fit_says_by_how_much() -> None:
    est = bp.estimate("llama-3.1-70b", "a100_80g")
    memory = est.memory
    need, short = memory.total_bytes / 2**30, (memory.total_bytes - memory.usable_bytes) / 2**30
    assert not memory.fits
    assert est.summary().startswith(
        f"Does not fit · {need:.1f} of 80.0 GiB usable per device, {short:.1f} GiB short in the prefill · "
    )


def test_the_json_holds_inputs_digests_figures_and_plans() -> None:
    data = json.loads(ESTIMATE.to_json())
    assert data["version"] == bp.__version__
    assert data["inputs"]["mapping"] == {"tensor_parallel": 2, "pipeline_parallel": 4, "replicas": 3}
    assert data["inputs"]["model"]["name"] == "llama-3.1-8b"
    assert data["seconds"] == {
        "prefill": ESTIMATE.prefill_seconds,
        "mean_decode_step": ESTIMATE.mean_decode_step_seconds,
        "model_execution": ESTIMATE.model_execution_seconds,
    }
    assert data["summary"] == ESTIMATE.summary()
    assert data["decode"]["plan_digest"] == ESTIMATE.decode["plan_digest"].to_list()
    assert data["memory"]["total_bytes"] == ESTIMATE.memory.total_bytes
    assert set(data["digests"]) == {
        "model", "distributed", "plan_template", "bound_template", "prefill_plan", "prefill_bound_plan", "system_revision",
    }  # fmt: skip
    assert ESTIMATE.to_json() == json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def test_the_plans_in_the_json_can_be_loaded_back() -> None:
    data = json.loads(ESTIMATE.to_json())
    prefill, last = data["plans"]["prefill"], data["plans"]["last_decode"]
    plan = PortablePlanIR.from_json(json.dumps(prefill["portable"]))
    assert plan.digest == data["digests"]["prefill_plan"]
    assert plan == ESTIMATE.prefill_plan
    bound = BoundPlan.from_json(json.dumps(prefill["bound"]))
    assert bound.digest == data["digests"]["prefill_bound_plan"]
    assert PortablePlanIR.from_json(json.dumps(last["portable"])).digest == ESTIMATE.decode["plan_digest"][-1]
    assert BoundPlan.from_json(json.dumps(last["bound"])).workload.groups[0].context_tokens == 119


def test_a_faster_memory_makes_faster_decode_steps_and_is_named() -> None:
    system = bp.load_system("h100_80g_nvl8")
    faster = system.with_overrides({"memory.bandwidth_gb_per_s": 4000})
    before, after = (bp.estimate("llama-3.1-8b", which, generated_tokens=8) for which in (system, faster))
    assert (after.decode["seconds"] < before.decode["seconds"]).all()
    assert after.prefill_seconds < before.prefill_seconds
    assert after.memory == before.memory
    assert after.decode["plan_digest"].to_list() == before.decode["plan_digest"].to_list()
    assert after.inputs.system.name == "h100_80g_nvl8+memory.bandwidth_gb_per_s=4000"
    memory = [est.components.filter(pl.col("bound") == "memory")["memory_seconds"].sum() for est in (before, after)]
    assert memory[0] / memory[1] == pytest.approx(4000 / 3072, rel=0.05)


def test_models_and_systems_are_listed_with_their_sizes() -> None:
    models, systems = bp.list_models(), bp.list_systems()
    row = models.row(by_predicate=pl.col("name") == "llama-3.1-70b", named=True)
    assert (row["parameters"], row["kv_bytes_per_token"], row["blocks"]) == (70_553_706_496, 327_680, 80)
    assert len(models) == 16
    row = systems.row(by_predicate=pl.col("name") == "a100_80g", named=True)
    assert (row["memory_gib"], row["bandwidth_gb_per_s"], row["float16_tflop_per_s"]) == (80, 2048, 312)
    assert (row["modes"], row["calibrations"]) == ("peak-only, system-evidence, calibrated", "vidur, pooled")
    assert len(systems) == 10
    assert systems.filter(pl.col("kind") == "datasheet")["modes"].unique().to_list() == ["peak-only, calibrated"]


def test_an_estimate_can_not_be_changed() -> None:
    with pytest.raises(AttributeError):
        ESTIMATE.memory = None
    with pytest.raises(AttributeError):
        ESTIMATE.prefill_seconds = 0.0
    with pytest.raises(ValueError, match="read-only"):
        ESTIMATE.decode_seconds[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        ESTIMATE.decode_contexts[0] = 0
    attention = ESTIMATE.components["component"].to_list().index("attention_core")
    with pytest.raises(ValueError, match="read-only"):
        ESTIMATE.decode_costs.costs[attention].seconds[0] = 0.0
