"""What a kernel changes about a plan, and that it changes nothing else."""

from __future__ import annotations

import pytest
from architectures import KERNELS, decoder, decoders, dense_mha, mapped_models, planned, workloads
from hypothesis import given
from hypothesis import strategies as st

import blueprint_nb as bp
from blueprint_nb.errors import UnknownNameError
from blueprint_nb.ir import BoundPlan
from blueprint_nb.synthesizer import ImplementationBinding
from blueprint_nb.workload import TransformerModelSpec, WorkloadBinding


def bound(model: TransformerModelSpec, workload: WorkloadBinding, kernel: str) -> BoundPlan:
    return planned(model, workload, attention=kernel).bound


def buffers(plan: BoundPlan) -> dict[str, int]:
    return {buffer.id: size for buffer, size in zip(plan.template.buffers, plan.buffer_bytes, strict=True)}


@given(decoders(), st.integers(1, 50), st.integers(1, 3000))
def test_flash_computes_the_causal_half_of_a_prefill(model: TransformerModelSpec, batch: int, prompt: int) -> None:
    workload = WorkloadBinding.prefill(batch_size=batch, prompt_tokens=prompt, datatype="float16")
    flash, unfused = (bound(model, workload, kernel).task("attention_core")[1] for kernel in ("flash", "unfused"))
    square, causal = prompt * prompt, sum(range(1, prompt + 1))
    assert unfused.operations * causal == flash.operations * square
    assert flash.operations < unfused.operations or prompt == 1


@given(decoders(), st.integers(1, 50), st.integers(1, 3000))
def test_flash_computes_all_of_a_decode(model: TransformerModelSpec, batch: int, context: int) -> None:
    workload = WorkloadBinding.decode(batch_size=batch, context_tokens=context, datatype="float16")
    flash, unfused = (bound(model, workload, kernel).task("attention_core")[1] for kernel in ("flash", "unfused"))
    assert flash.operations == unfused.operations


@given(decoders(), workloads(), st.sampled_from(KERNELS))
def test_a_kernel_changes_attention_alone(model: TransformerModelSpec, workload: WorkloadBinding, kernel: str) -> None:
    step = planned(model, workload, attention=kernel)
    for task, portable, work in zip(step.bound.template.tasks, step.plan.work, step.bound.work, strict=True):
        if task.component == "attention_core" and kernel != "unfused":
            assert work.operations == portable.operations - portable.masked_operations
            assert work.masked_operations == 0
            assert work[2:] == portable[2:]
        else:
            assert work == portable
    assert step.bound.template.plan_digest == step.plan.template.digest


@given(mapped_models(decoders()), workloads())
def test_only_unfused_attention_holds_the_scores(
    mapped: tuple[TransformerModelSpec, int, int], workload: WorkloadBinding
) -> None:
    model, ranks, _ = mapped
    held = {kernel: planned(model, workload, tensor_parallel=ranks, attention=kernel).bound for kernel in KERNELS}
    scores = model.attention_heads // ranks * sum(g.count * g.query_tokens * g.context_tokens for g in workload.groups)
    element = {"float32": 4, "float8": 1}.get(workload.datatype, 2)
    assert buffers(held["unfused"])["only.workspace.scores"] == scores * element
    assert "only.workspace.scores" not in buffers(held["flash"])
    assert "only.workspace.scores" not in buffers(held["paged"])


@given(decoders(), workloads())
def test_a_paged_cache_holds_whole_blocks_of_16_tokens(model: TransformerModelSpec, workload: WorkloadBinding) -> None:
    flash, paged = (buffers(bound(model, workload, kernel)) for kernel in ("flash", "paged"))
    width = 2 * model.block_count * model.key_value_heads * model.attention_head_size
    element = {"float32": 4, "float8": 1}.get(workload.datatype, 2)
    tokens = sum(group.count * group.context_tokens for group in workload.groups)
    rounded = sum(group.count * -(-group.context_tokens // 16) * 16 for group in workload.groups)
    assert flash.pop("only.kv_cache") == width * element * tokens
    assert paged.pop("only.kv_cache") == width * element * rounded
    assert flash == paged


@pytest.mark.parametrize(("context", "held"), [(1, 16), (16, 16), (17, 32), (1000, 1008)])
def test_a_paged_sequence_takes_the_blocks_it_touches(context: int, held: int) -> None:
    workload = WorkloadBinding.decode(batch_size=5, context_tokens=context, datatype="float16")
    plan = bound(decoder(), workload, "paged")
    assert buffers(plan)["only.kv_cache"] == 2 * 4 * 5 * held * (2 * 16) * 2
    assert plan.template.implementation.kv_block_tokens == 16


def test_other_blocks_can_be_asked_for() -> None:
    workload = WorkloadBinding.decode(batch_size=1, context_tokens=33, datatype="float16")
    plan = planned(decoder(), workload).plan
    paged = ImplementationBinding(attention="paged", kv_block_tokens=32).bind(plan)
    assert buffers(paged)["only.kv_cache"] == 2 * 4 * 64 * (2 * 16) * 2


def test_the_reference_is_unfused_and_real_models_are_flash() -> None:
    reference = bp.estimate("phi-2-dense-mha", "a100_80g", prompt_tokens=8, generated_tokens=1)
    real = bp.estimate("phi-2", "a100_80g", prompt_tokens=8, generated_tokens=1)
    assert reference.prefill.plan.template.implementation.attention == "unfused"
    assert real.prefill.plan.template.implementation.attention == "flash"


def test_a_reference_model_takes_another_kernel_when_asked() -> None:
    default, flash = (
        bp.estimate("phi-2-dense-mha", "a100_80g", prompt_tokens=4000, generated_tokens=1, attention=kernel)
        for kernel in (None, "flash")
    )
    assert flash.prefill_seconds < default.prefill_seconds
    assert flash.memory.workspace_bytes < default.memory.workspace_bytes


@pytest.mark.parametrize("attention", ["flsh", "", None, 3, ["flash"]])
def test_an_unknown_kernel_is_refused(attention: object) -> None:
    with pytest.raises(UnknownNameError, match=r"^attention must be flash, paged or unfused. Got "):
        ImplementationBinding(attention=attention)


def test_a_mixed_step_masks_only_what_each_sequence_hides() -> None:
    chunk = WorkloadBinding(
        groups=(
            {"query_tokens": 1, "context_tokens": 50, "count": 2},
            {"query_tokens": 4, "context_tokens": 10, "count": 3},
        ),
        datatype="float16",
    )
    pairs = 2 * 50 + 3 * (7 + 8 + 9 + 10)
    work = bound(dense_mha(), chunk, "flash").task("attention_core")[1]
    assert work.operations == (4 * 64 + 5 * 8) * pairs
    assert chunk.phase == "mixed"
