"""The table of work of the reference model, transcribed here a second time and compared row by row."""

from __future__ import annotations

import pytest
from architectures import ELEMENT_BYTES, dense_mha, planned
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.ir import BoundPlan
from blueprint_nb.workload import SequenceGroup, WorkloadBinding

COMPONENTS = [
    ("input_norm", "input_layernorm", "vector", "attention"),
    ("qkv_projection", "attention_pre_projection", "matrix", "attention"),
    ("rope", "attention_rope", "vector", "attention"),
    ("kv_save", "attention_kv_cache_save", "vector", "attention"),
    ("attention_core", "attention_core", "matrix", "attention"),
    ("output_projection", "attention_post_projection", "matrix", "attention"),
    ("attention_all_reduce", "all_reduce", "network", "attention"),
    ("attention_residual", "residual_add", "vector", "attention"),
    ("post_attention_norm", "post_attention_layernorm", "vector", "mlp"),
    ("mlp_up", "mlp_up_projection", "matrix", "mlp"),
    ("mlp_activation", "mlp_activation", "vector", "mlp"),
    ("mlp_down", "mlp_down_projection", "matrix", "mlp"),
    ("mlp_all_reduce", "all_reduce", "network", "mlp"),
    ("mlp_residual", "residual_add", "vector", "mlp"),
]


def table(b: int, q: int, c: int, h: int, f: int, heads: int, t: int, e: int) -> dict[str, tuple[int, ...]]:
    """Component to (operations, read bytes, write bytes, message bytes), a rank and a block each."""
    T = b * q * h  # noqa: N806, the reference's own symbols
    Tl = T // t  # noqa: N806
    F = b * q * f // t  # noqa: N806
    S = b * (heads // t) * q * c  # noqa: N806
    rows = {
        "input_norm": (5 * T, T + 2 * h, T, 0),
        "qkv_projection": (6 * b * q * h * h // t, T + 3 * h * h // t, 3 * Tl, 0),
        "rope": (12 * Tl, 2 * Tl, 2 * Tl, 0),
        "kv_save": (0, 2 * Tl, 2 * Tl, 0),
        "attention_core": (4 * b * q * c * h // t + 5 * S, Tl + 2 * b * c * h // t, Tl, 0),
        "output_projection": (2 * b * q * h * h // t, Tl + h * h // t, T, 0),
        "attention_all_reduce": (0, 0, 0, T),
        "attention_residual": (T, 2 * T, T, 0),
        "post_attention_norm": (5 * T, T + 2 * h, T, 0),
        "mlp_up": (2 * b * q * h * f // t, T + h * f // t, F, 0),
        "mlp_activation": (8 * F, F, F, 0),
        "mlp_down": (2 * b * q * h * f // t, F + h * f // t, T, 0),
        "mlp_all_reduce": (0, 0, 0, T),
        "mlp_residual": (T, 2 * T, T, 0),
    }
    return {
        name: (operations, read * e, write * e, message * e)
        for name, (operations, read, write, message) in rows.items()
        if t > 1 or not name.endswith("all_reduce")
    }


def work_of(plan: BoundPlan) -> dict[str, tuple[int, ...]]:
    return {
        task.component: (work.operations, work.read_bytes, work.write_bytes, work.message_bytes)
        for task, work in zip(plan.template.tasks, plan.work, strict=True)
    }


@given(data=st.data())
def test_every_row_of_the_table_is_the_plan(data: st.DataObject) -> None:
    t = data.draw(st.integers(1, 8), "t")
    heads = t * data.draw(st.integers(1, 12), "heads a rank")
    head_size = data.draw(st.integers(1, 200), "head size")
    f = t * data.draw(st.integers(1, 5000), "f a rank")
    b = data.draw(st.integers(1, 300), "b")
    c = data.draw(st.integers(1, 4096), "c")
    q = data.draw(st.one_of(st.just(1), st.just(c), st.integers(1, c)), "q")
    datatype = data.draw(st.sampled_from(sorted(ELEMENT_BYTES)), "datatype")
    h = heads * head_size
    model = dense_mha(attention_heads=heads, attention_head_size=head_size, hidden_size=h, feedforward_size=f)
    group = SequenceGroup(query_tokens=q, context_tokens=c, count=b)
    plan = planned(model, WorkloadBinding(groups=(group,), datatype=datatype), tensor_parallel=t).bound
    assert work_of(plan) == table(b, q, c, h, f, heads, t, ELEMENT_BYTES[datatype])


@pytest.mark.parametrize(("ranks", "count"), [(1, 12), (2, 14), (8, 14)])
def test_a_block_has_12_components_and_14_when_sharded(ranks: int, count: int) -> None:
    workload = WorkloadBinding.decode(batch_size=1, context_tokens=9, datatype="float16")
    tasks = planned(dense_mha(), workload, tensor_parallel=ranks).bound.template.tasks
    assert len(tasks) == count
    expected = [row for row in COMPONENTS if ranks > 1 or row[2] != "network"]
    assert [(task.component, task.primitive, task.unit, task.source_layer) for task in tasks] == expected


@pytest.mark.parametrize("stages", [1, 2, 4])
def test_every_block_runs_once_and_every_hop_but_one_for_each_stage(stages: int) -> None:
    workload = WorkloadBinding.prefill(batch_size=3, prompt_tokens=5, datatype="float32")
    plan = planned(dense_mha(), workload, pipeline_parallel=stages).bound
    executions = {task.component: task.executions for task in plan.template.tasks}
    assert executions.pop("pipeline_send", 0) == stages - 1
    assert set(executions.values()) == {4}
    if stages > 1:
        task, work = plan.task("pipeline_send")
        assert (task.collective, task.ranks, work.message_bytes) == ("point_to_point", 2, 3 * 5 * 64 * 4)


def test_tasks_follow_one_another() -> None:
    workload = WorkloadBinding.decode(batch_size=1, context_tokens=9, datatype="float16")
    tasks = planned(dense_mha(), workload, tensor_parallel=2).bound.template.tasks
    needs = {task.component: [need.split(".")[-1] for need in task.depends_on] for task in tasks}
    assert needs["input_norm"] == []
    assert needs["attention_core"] == ["kv_save"]
    assert needs["attention_residual"] == ["attention_all_reduce"]
    assert needs["mlp_residual"] == ["attention_residual", "mlp_all_reduce"]
