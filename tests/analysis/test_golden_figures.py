"""The published figures of the reference model, to their tolerances."""

from __future__ import annotations

import math

import pytest
from architectures import planned

import blueprint_nb as bp
from blueprint_nb.analysis import PhaseEstimate, estimate_inference_phase
from blueprint_nb.cost import AnalyticalProvider
from blueprint_nb.mapping import NetworkTierBinding
from blueprint_nb.workload import WorkloadBinding

NOT_COMPARED = {"kv_save", "attention_residual", "post_attention_norm"}

DECODE_33 = WorkloadBinding.decode(batch_size=1, context_tokens=33, datatype="float16")
DECODE_129 = WorkloadBinding.decode(batch_size=1, context_tokens=129, datatype="float16")
PREFILL_128 = WorkloadBinding.prefill(batch_size=1, prompt_tokens=128, datatype="float16")


def phi_2_block(workload: WorkloadBinding, mode: str) -> PhaseEstimate:
    plan = planned(bp.load_model("phi-2-dense-mha"), workload).bound
    return estimate_inference_phase(plan, bp.load_system("a100_80g"), NetworkTierBinding(), AnalyticalProvider(mode))


def comparable_seconds(workload: WorkloadBinding, mode: str) -> float:
    seconds = phi_2_block(workload, mode).component_seconds
    assert len(seconds) == 12
    compared = [value for component, value in seconds.items() if component not in NOT_COMPARED]
    assert len(compared) == 9
    return math.fsum(compared)


@pytest.mark.parametrize(
    ("workload", "evidence", "peak"),
    [
        (DECODE_33, 0.00010824697435897437, 7.75643641025641e-05),
        (DECODE_129, 0.00010879564102564103, 7.80475641025641e-05),
        (PREFILL_128, 0.00023554310256410256, 0.00015392893846153847),
    ],
    ids=["decode at context 33", "decode at context 129", "prefill of 128"],
)
def test_the_comparable_seconds_of_phi_2_are_the_published_ones(
    workload: WorkloadBinding, evidence: float, peak: float
) -> None:
    assert comparable_seconds(workload, "system-evidence") == pytest.approx(evidence, rel=0, abs=1e-15)
    assert comparable_seconds(workload, "peak-only") == pytest.approx(peak, rel=0, abs=1e-15)


@pytest.mark.parametrize(("batch", "microseconds"), [(19, 220.98), (20, 171.21)])
def test_a_block_of_phi_2_is_faster_at_batch_20_than_at_19(batch: int, microseconds: float) -> None:
    workload = WorkloadBinding.decode(batch_size=batch, context_tokens=129, datatype="float16")
    block = phi_2_block(workload, "system-evidence").block_seconds
    assert 1e6 * block == pytest.approx(microseconds, rel=0, abs=0.005)


def test_the_steps_of_the_curves_show_at_contexts_97_and_976() -> None:
    drops = bp.estimate("phi-2-dense-mha", "a100_80g", prompt_tokens=1, generated_tokens=2000).latency_drops
    assert drops == (97, 976)


def test_peak_only_never_drops() -> None:
    est = bp.estimate("phi-2-dense-mha", "a100_80g", prompt_tokens=1, generated_tokens=2000, mode="peak-only")
    assert est.latency_drops == ()


REQUESTS = {
    "phi-2-dense-mha b1 128+4": (
        {"model": "phi-2-dense-mha", "batch_size": 1, "prompt_tokens": 128, "generated_tokens": 4},
        {"prefill": 0.0076993119, "first": 0.0034844569, "last": 0.0034850115, "total": 0.0181535145},
        {"prefill": 0.0050188526, "total": 0.0125145609},
        {
            "total_bytes": 5_079_695_360,
            "weights_bytes": 5_033_820_160,
            "kv_cache_bytes": 41_943_040,
            "workspace_bytes": 3_276_800,
            "buffers_bytes": 655_360,
        },
    ),
    "gpt3-175b-dense-mha b1 128+4 TP8": (
        {
            "model": "gpt3-175b-dense-mha",
            "tensor_parallel": 8,
            "batch_size": 1,
            "prompt_tokens": 128,
            "generated_tokens": 4,
        },
        {"prefill": 0.0591224470, "first": 0.0275409990, "last": 0.0275429571, "total": 0.1417483812},
        {"prefill": 0.0472414816, "total": 0.1173922152},
        {
            "total_bytes": 43_579_342_848,
            "weights_bytes": 43_495_981_056,
            "kv_cache_bytes": 75_497_472,
            "workspace_bytes": 4_718_592,
            "buffers_bytes": 3_145_728,
        },
    ),
    "gpt3-175b-dense-mha b8 1024+64 TP8 PP2": (
        {
            "model": "gpt3-175b-dense-mha",
            "tensor_parallel": 8,
            "pipeline_parallel": 2,
            "batch_size": 8,
            "prompt_tokens": 1024,
            "generated_tokens": 64,
        },
        {"prefill": 1.8035744883, "first": 0.0349838873, "last": 0.0351838196, "total": 4.0138572550},
        {"prefill": 1.5791763321, "total": 3.2876745799},
        {
            "total_bytes": 24_969_216_000,
            "weights_bytes": 21_747_990_528,
            "kv_cache_bytes": 2_415_919_104,
            "workspace_bytes": 402_653_184,
            "buffers_bytes": 402_653_184,
        },
    ),
}


@pytest.mark.parametrize("case", REQUESTS)
def test_a_request_takes_the_published_seconds(case: str) -> None:
    request, evidence, peak, _ = REQUESTS[case]
    est = bp.estimate(system="a100_80g", **request)
    steps = est.decode["seconds"]
    got = {"prefill": est.prefill_seconds, "first": steps[0], "last": steps[-1], "total": est.model_execution_seconds}
    assert got == pytest.approx(evidence, rel=0, abs=1e-10)
    est = bp.estimate(system="a100_80g", mode="peak-only", **request)
    got = {"prefill": est.prefill_seconds, "total": est.model_execution_seconds}
    assert got == pytest.approx(peak, rel=0, abs=1e-10)


@pytest.mark.parametrize("case", REQUESTS)
def test_a_request_holds_the_published_bytes_at_its_prefill(case: str) -> None:
    request, _, _, parts = REQUESTS[case]
    memory = bp.estimate(system="a100_80g", **request).memory
    assert {name: getattr(memory, name) for name in parts} == parts
    assert (memory.peak_phase, memory.peak_context_tokens) == ("prefill", request["prompt_tokens"])
    assert memory.capacity_bytes == memory.usable_bytes == 80 * 2**30
    assert memory.fits
