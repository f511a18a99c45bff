"""What real models have beyond the reference block: GQA, gates, parallel residuals, biases, positions, ends."""

from __future__ import annotations

import pytest
from architectures import decoder, planned
from hypothesis import given
from hypothesis import strategies as st

import blueprint_nb as bp
from blueprint_nb.ir import BoundPlan, TaskWork
from blueprint_nb.workload import WorkloadBinding

B, Q = 3, 20
PREFILL = WorkloadBinding.prefill(batch_size=B, prompt_tokens=Q, datatype="float16")


def step(ranks: int = 1, stages: int = 1, attention: str = "unfused", **fields: object) -> BoundPlan:
    """A prefill of 3 · 20 tokens of the small model: h 64, f 192, 8 query heads and 2 KV heads of 16."""
    model = decoder(**fields)
    return planned(model, PREFILL, tensor_parallel=ranks, pipeline_parallel=stages, attention=attention).bound


def work(plan: BoundPlan, component: str) -> TaskWork:
    return plan.task(component)[1]


def components(plan: BoundPlan) -> list[str]:
    return [task.component for task in plan.template.tasks]


def test_a_serial_block_stands_between_embedding_and_head() -> None:
    assert components(step(ranks=2, stages=2)) == [
        "embedding", "embedding_all_reduce",
        "input_norm", "qkv_projection", "rope", "kv_save", "attention_core", "output_projection",
        "attention_all_reduce", "attention_residual",
        "post_attention_norm", "mlp_up", "mlp_activation", "mlp_down", "mlp_all_reduce", "mlp_residual",
        "pipeline_send",
        "final_norm", "lm_head", "lm_head_all_gather",
    ]  # fmt: skip


def test_a_parallel_block_has_one_norm_and_one_all_reduce() -> None:
    assert components(step(ranks=2, residual="parallel")) == [
        "embedding", "embedding_all_reduce",
        "input_norm", "qkv_projection", "rope", "kv_save", "attention_core", "output_projection",
        "mlp_up", "mlp_activation", "mlp_down", "branch_add", "mlp_all_reduce", "mlp_residual",
        "final_norm", "lm_head", "lm_head_all_gather",
    ]  # fmt: skip
    plan = step(ranks=2, residual="parallel")
    assert plan.task("mlp_up")[0].depends_on == ("decoder.input_norm",)
    assert plan.task("branch_add")[0].depends_on == ("decoder.output_projection", "decoder.mlp_down")
    assert plan.task("mlp_all_reduce")[0].depends_on == ("decoder.branch_add",)


def test_phi_2_all_reduces_once_a_block() -> None:
    model = bp.load_model("phi-2")
    tasks = planned(model, PREFILL, tensor_parallel=4).bound.template.tasks
    reduces = [task for task in tasks if task.collective == "all_reduce" and task.source_layer in ("attention", "mlp")]
    assert [(task.component, task.executions, task.ranks) for task in reduces] == [("mlp_all_reduce", 32, 4)]


def test_scores_have_query_heads_and_the_cache_has_key_value_heads() -> None:
    core = work(step(), "attention_core")
    assert core.operations == 4 * B * Q * Q * (8 * 16) + 5 * B * Q * Q * 8
    assert core.read_bytes == 2 * (B * Q * 8 * 16 + 2 * B * Q * 2 * 16)
    save = work(step(), "kv_save")
    assert (save.read_bytes, save.write_bytes) == (2 * 2 * B * Q * 32, 2 * 2 * B * Q * 32)
    qkv = work(step(), "qkv_projection")
    assert qkv.operations == 2 * B * Q * 64 * (128 + 2 * 32)
    assert qkv.read_bytes == 2 * (B * Q * 64 + 64 * 192)
    assert qkv.write_bytes == 2 * B * Q * 192


@pytest.mark.parametrize(("ranks", "heads_a_rank", "replication"), [(1, 2, 1), (2, 1, 1), (4, 1, 2), (8, 1, 4)])
def test_key_value_heads_are_replicated_once_ranks_exceed_them(ranks: int, heads_a_rank: int, replication: int) -> None:
    plan = planned(decoder(), PREFILL, tensor_parallel=ranks)
    assert plan.distributed.sharding.key_value_heads == heads_a_rank
    assert plan.distributed.sharding.key_value_replication == replication
    kv = heads_a_rank * 16
    assert work(plan.bound, "qkv_projection").operations == 2 * B * Q * 64 * (128 // ranks + 2 * kv)
    assert work(plan.bound, "rope").operations == 6 * B * Q * (8 // ranks + heads_a_rank) * 16
    assert work(plan.bound, "kv_save").write_bytes == 2 * 2 * B * Q * kv


def test_a_gate_widens_the_first_matrix_and_multiplies() -> None:
    plan = step()
    up, activation, down = (work(plan, name) for name in ("mlp_up", "mlp_activation", "mlp_down"))
    assert up.operations == 2 * B * Q * 64 * 2 * 192
    assert (up.read_bytes, up.write_bytes) == (2 * (B * Q * 64 + 64 * 384), 2 * B * Q * 384)
    assert activation.operations == (4 + 1) * B * Q * 192
    assert (activation.read_bytes, activation.write_bytes) == (2 * B * Q * 384, 2 * B * Q * 192)
    assert down.operations == 2 * B * Q * 192 * 64


@pytest.mark.parametrize(("activation", "operations"), [("gelu", 8), ("silu", 4), ("relu", 1)])
def test_an_activation_has_its_own_operations(activation: str, operations: int) -> None:
    plan = step(activation=activation, mlp="plain")
    assert work(plan, "mlp_activation").operations == operations * B * Q * 192


@pytest.mark.parametrize(("norm", "operations", "vectors"), [("layer_norm", 5, 2), ("rms_norm", 4, 1)])
def test_a_norm_scales_and_a_layer_norm_also_shifts(norm: str, operations: int, vectors: int) -> None:
    plan = step(norm=norm)
    for component in ("input_norm", "post_attention_norm", "final_norm"):
        assert work(plan, component).operations == operations * B * Q * 64
        assert work(plan, component).read_bytes == 2 * (B * Q * 64 + vectors * 64)


BIASES = {
    "qkv": ("qkv_projection", 192),
    "attention_output": ("output_projection", 64),
    "lm_head": ("lm_head", 1001),
}


@pytest.mark.parametrize("bias", sorted(BIASES))
def test_a_bias_is_read_and_added(bias: str) -> None:
    component, width = BIASES[bias]
    without, added = work(step(), component), work(step(biases=frozenset({bias})), component)
    rows = B if bias == "lm_head" else B * Q
    assert added.operations - without.operations == rows * width
    assert added.read_bytes - without.read_bytes == 2 * width


def test_the_biases_of_the_mlp_are_on_all_its_matrices() -> None:
    without, plan = step(), step(biases=frozenset({"mlp"}))
    for component, width in (("mlp_up", 384), ("mlp_down", 64)):
        assert work(plan, component).operations - work(without, component).operations == B * Q * width
        assert work(plan, component).read_bytes - work(without, component).read_bytes == 2 * width


def test_partial_rope_turns_only_its_part_of_each_head() -> None:
    assert work(step(rotary_size=6), "rope").operations == 6 * B * Q * (8 + 2) * 6
    assert work(step(rotary_size=6), "rope").write_bytes == 2 * B * Q * (8 + 2) * 6


@pytest.mark.parametrize("position", ["learned", "alibi", "none"])
def test_without_rope_nothing_is_turned(position: str) -> None:
    plan = step(position=position)
    assert "rope" not in components(plan)
    assert plan.task("kv_save")[0].depends_on == ("decoder.qkv_projection",)


def test_alibi_adds_its_slopes_to_the_scores() -> None:
    plain, alibi = work(step(position="none"), "attention_core"), work(step(position="alibi"), "attention_core")
    assert alibi.operations - plain.operations == 2 * B * Q * Q * 8
    assert alibi.read_bytes == plain.read_bytes


def test_learned_positions_are_read_and_added_to_the_tokens() -> None:
    plain, learned = work(step(position="none"), "embedding"), work(step(position="learned"), "embedding")
    assert (plain.operations, plain.read_bytes) == (0, 2 * B * Q * 64)
    assert (learned.operations, learned.read_bytes) == (B * Q * 64, 2 * 2 * B * Q * 64)
    assert learned.write_bytes == plain.write_bytes == 2 * B * Q * 64


@given(st.integers(1, 50), st.integers(1, 500), st.sampled_from([1, 2, 4, 8]))
def test_the_head_looks_at_one_position_of_each_sequence(batch: int, prompt: int, ranks: int) -> None:
    workload = WorkloadBinding.prefill(batch_size=batch, prompt_tokens=prompt, datatype="float16")
    plan = planned(decoder(), workload, tensor_parallel=ranks).bound
    rows = -(-1001 // ranks)
    head = work(plan, "lm_head")
    assert head.operations == 2 * batch * 64 * rows
    assert head.read_bytes == 2 * (batch * 64 + 64 * rows)
    assert head.write_bytes == 2 * batch * rows
    if ranks > 1:
        assert work(plan, "lm_head_all_gather").message_bytes == 2 * batch * rows * ranks


def test_ends_run_once_whatever_the_stages() -> None:
    plan = step(ranks=2, stages=4)
    once = [task.component for task in plan.template.tasks if task.executions == 1]
    assert once == ["embedding", "embedding_all_reduce", "final_norm", "lm_head", "lm_head_all_gather"]
    assert plan.task("pipeline_send")[0].executions == 3
