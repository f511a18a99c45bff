"""No estimate is below what the system's own figures allow, and at peak none falls as the work grows."""

from __future__ import annotations

import numpy as np
from architectures import (
    ELEMENT_BYTES,
    KERNELS,
    mapped_models,
    parameters,
    planned,
    position_rows,
    workloads,
)
from hypothesis import given
from hypothesis import strategies as st

import blueprint_nb as bp
from blueprint_nb.analysis import PhaseEstimate, estimate_inference_phase
from blueprint_nb.catalog import system_names
from blueprint_nb.cost import AnalyticalProvider
from blueprint_nb.mapping import NetworkTierBinding
from blueprint_nb.workload import TransformerModelSpec, WorkloadBinding

Mapped = tuple[TransformerModelSpec, int, int]

SYSTEMS = {name: bp.load_system(name) for name in system_names()}
ROOFLINES = {f"{n} (roofline)": s.model_copy(update={"processing_mode": "roofline"}) for n, s in SYSTEMS.items()}
EVERY_SYSTEM = {**SYSTEMS, **ROOFLINES}
MODES_OF = {
    name: ["peak-only"] if system.missing_efficiency else ["peak-only", "system-evidence"]
    for name, system in EVERY_SYSTEM.items()
}


@st.composite
def priced(draw: st.DrawFn) -> tuple[PhaseEstimate, bp.SystemProfile]:
    """Any step of any model on any system that can run it, in any mode that the system has."""
    name = draw(st.sampled_from(sorted(EVERY_SYSTEM)))
    system, mode = EVERY_SYSTEM[name], draw(st.sampled_from(MODES_OF[name]))
    model, ranks, stages = draw(mapped_models(most_ranks=system.network[0].max_ranks))
    workload = draw(workloads(datatypes=system.datatypes))
    kernel = draw(st.sampled_from(KERNELS))
    plan = planned(model, workload, tensor_parallel=ranks, pipeline_parallel=stages, attention=kernel).bound
    return estimate_inference_phase(plan, system, NetworkTierBinding(), AnalyticalProvider(mode)), system


@given(priced())
def test_no_component_is_faster_than_its_operations_or_its_bytes(case: tuple[PhaseEstimate, bp.SystemProfile]) -> None:
    phase, system = case
    datatype = phase.plan.template.datatype
    tier = system.network[0]
    for task, work in zip(phase.plan.template.tasks, phase.plan.work, strict=True):
        seconds = phase.component_seconds[task.component]
        if task.unit == "network":
            once = work.message_bytes * (task.ranks - 1) / task.ranks / (tier.bandwidth_gb_per_s * 1e9)
            assert seconds >= once
            assert seconds >= tier.latency_us * 1e-6
            continue
        engine = system.matrix if task.unit == "matrix" else system.vector
        peak = getattr(engine, f"{datatype}_tflop_per_s") * 1e12
        assert seconds >= work.operations / peak
        assert seconds >= (work.read_bytes + work.write_bytes) / (system.memory.bandwidth_gb_per_s * 1e9)
        assert seconds > 0 or work == (0, 0, 0, 0, 0)


@given(priced())
def test_a_phase_is_the_sum_of_its_executions(case: tuple[PhaseEstimate, bp.SystemProfile]) -> None:
    phase, _ = case
    executions = {task.component: task.executions for task in phase.plan.template.tasks}
    total = sum(seconds * executions[name] for name, seconds in phase.component_seconds.items())
    assert phase.seconds == total
    assert 0 < phase.block_seconds <= phase.stack_seconds <= phase.seconds


@given(
    mapped_models(most_ranks=8),
    st.integers(1, 100),
    st.integers(1, 4096),
    st.sampled_from(["peak-only", "system-evidence"]),
)
def test_no_decode_step_is_faster_than_the_weights_can_be_read(
    mapped: Mapped, batch: int, context: int, mode: str
) -> None:
    model, ranks, stages = mapped
    step = WorkloadBinding.decode(batch_size=batch, context_tokens=context, datatype="float16")
    plan = planned(model, step, tensor_parallel=ranks, pipeline_parallel=stages).bound
    system = SYSTEMS["h100_80g_nvl8"]
    seconds = estimate_inference_phase(plan, system, NetworkTierBinding(), AnalyticalProvider(mode)).seconds
    not_read = 0 if model.tied_embeddings else (model.vocab_size or 0) * model.hidden_size
    read = parameters(model) - not_read - position_rows(model) * model.hidden_size
    cache = 2 * model.block_count * batch * context * model.key_value_heads * model.attention_head_size
    assert seconds >= 2 * (read + cache) / ranks / (3072e9)


@st.composite
def swept(draw: st.DrawFn) -> dict[str, object]:
    name = draw(st.sampled_from(sorted(EVERY_SYSTEM)))
    system = EVERY_SYSTEM[name]
    model, ranks, stages = draw(mapped_models(most_ranks=system.network[0].max_ranks))
    return {
        "model": model,
        "system": system,
        "tensor_parallel": ranks,
        "pipeline_parallel": stages,
        "batch_size": sorted(draw(st.sets(st.integers(1, 2000), min_size=2, max_size=8))),
        "context_tokens": sorted(draw(st.sets(st.integers(1, 4096), min_size=2, max_size=8))),
        "phase": draw(st.sampled_from(["prefill", "decode"])),
        "datatype": draw(st.sampled_from(system.datatypes)),
        "attention": draw(st.sampled_from(KERNELS)),
    }


@given(swept())
def test_at_peak_more_sequences_or_more_context_never_take_less_time_or_memory(case: dict[str, object]) -> None:
    frame = bp.sweep(mode="peak-only", **case)
    shape = (len(case["batch_size"]), len(case["context_tokens"]))
    for name in ("seconds", "total_bytes", "kv_cache_bytes"):
        grid = frame[name].to_numpy().reshape(shape)
        assert (np.diff(grid, axis=0) >= 0).all()
        assert (np.diff(grid, axis=1) >= 0).all()


def test_every_system_runs_in_every_datatype_it_claims() -> None:
    assert all(set(system.datatypes) <= set(ELEMENT_BYTES) for system in SYSTEMS.values())
    assert all("float16" in system.datatypes for system in SYSTEMS.values())
