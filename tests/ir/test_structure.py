"""Every IR is verified when it is made, can't be changed, and holds no time and no hardware."""

from __future__ import annotations

import re

import pytest
from architectures import KERNELS, decoder, dense_mha, mapped_models, planned, workloads
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import blueprint_nb as bp
from blueprint_nb import synthesizer
from blueprint_nb.catalog import system_names
from blueprint_nb.errors import IntegrityError, InvalidInputError
from blueprint_nb.ir import BoundPlan, DistributedTaskIR, ModelIR, PlanTemplate, PortablePlanIR
from blueprint_nb.workload import TransformerModelSpec, WorkloadBinding

STEP = WorkloadBinding.decode(batch_size=2, context_tokens=100, datatype="float16")
IRS = planned(decoder(), STEP, tensor_parallel=2, pipeline_parallel=2)


def fields(ir: object) -> dict[str, object]:
    return {name: getattr(ir, name) for name in type(ir).model_fields}


def test_a_model_has_one_phase_neutral_operation_for_its_blocks() -> None:
    embedding, stack, head = IRS.model.operations
    assert (embedding.kind, stack.kind, head.kind) == (
        "transformer.embedding",
        "transformer.decoder_inference",
        "transformer.lm_head",
    )
    assert (stack.repeat, stack.inputs, head.inputs) == (4, ("embedding",), ("decoder",))
    (effect,) = stack.effects
    assert (effect.state, effect.heads, effect.head_size) == ("kv_cache", 2, 16)
    assert (effect.appends, effect.reads) == ("query_tokens", "context_tokens")


def test_a_tied_head_says_whose_table_it_uses() -> None:
    assert IRS.model.operations[2].head.tied_to is None
    assert planned(decoder(tied_embeddings=True), STEP).model.operations[2].head.tied_to == "embedding"


def test_the_reference_template_is_its_stack_alone() -> None:
    (stack,) = planned(dense_mha(), STEP).model.operations
    assert (stack.kind, stack.inputs) == ("transformer.decoder_inference", ())


def twice(items: tuple) -> tuple:
    return (*items, items[0])


@pytest.mark.parametrize(
    ("kind", "ir", "field", "message"),
    [
        (ModelIR, IRS.model, "operations", "operations must have unique ids. Got 'embedding'."),
        (DistributedTaskIR, IRS.distributed, "tasks", "tasks must have unique ids. Got 'embedding.embedding'."),
        (DistributedTaskIR, IRS.distributed, "buffers", "buffers must have unique ids. Got 'first.weights'."),
        (PlanTemplate, IRS.plan.template, "tasks", "tasks must have unique ids. Got 'embedding.embedding'."),
        (PlanTemplate, IRS.plan.template, "buffers", "buffers must have unique ids. Got 'first.weights'."),
    ],
)
def test_an_id_occurs_once(kind: type, ir: object, field: str, message: str) -> None:
    with pytest.raises(IntegrityError) as caught:
        kind(**{**fields(ir), field: twice(getattr(ir, field))})
    assert str(caught.value) == message


@pytest.mark.parametrize(("kind", "ir"), [(DistributedTaskIR, IRS.distributed), (PlanTemplate, IRS.plan.template)])
def test_a_component_occurs_once(kind: type, ir: object) -> None:
    again = ir.tasks[0].model_copy(update={"id": "another"})
    with pytest.raises(IntegrityError) as caught:
        kind(**{**fields(ir), "tasks": (*ir.tasks, again)})
    assert str(caught.value) == "components must have unique ids. Got 'embedding'."


@pytest.mark.parametrize(("kind", "ir"), [(DistributedTaskIR, IRS.distributed), (PlanTemplate, IRS.plan.template)])
def test_a_task_refers_to_earlier_tasks_that_are_known(kind: type, ir: object) -> None:
    with pytest.raises(IntegrityError) as caught:
        kind(**{**fields(ir), "tasks": ir.tasks[::-1]})
    assert str(caught.value) == "tasks.head.lm_head_all_gather must refer to an earlier id. Got 'head.lm_head'."
    with pytest.raises(IntegrityError) as caught:
        kind(**{**fields(ir), "tasks": ir.tasks[1:]})
    assert str(caught.value) == (
        "tasks.embedding.embedding_all_reduce must refer to a known id. Got 'embedding.embedding'."
    )
    selfish = ir.tasks[0].model_copy(update={"depends_on": (ir.tasks[0].id,)})
    with pytest.raises(IntegrityError, match="must refer to an earlier id"):
        kind(**{**fields(ir), "tasks": (selfish, *ir.tasks[1:])})


def test_an_operation_refers_to_earlier_operations_that_are_known() -> None:
    with pytest.raises(IntegrityError) as caught:
        ModelIR(**{**fields(IRS.model), "operations": IRS.model.operations[::-1]})
    assert str(caught.value) == "operations.head must refer to an earlier id. Got 'decoder'."
    with pytest.raises(IntegrityError) as caught:
        ModelIR(**{**fields(IRS.model), "operations": IRS.model.operations[1:]})
    assert str(caught.value) == "operations.decoder must refer to a known id. Got 'embedding'."


def test_a_plan_runs_in_the_datatype_of_its_template() -> None:
    other = WorkloadBinding.decode(batch_size=2, context_tokens=100, datatype="float8")
    with pytest.raises(IntegrityError) as caught:
        PortablePlanIR(template=IRS.plan.template, workload=other)
    assert str(caught.value) == "workload.datatype must be the template's, float16. Got float8."


def test_a_plan_past_2_to_the_63_can_not_be_made() -> None:
    huge = WorkloadBinding.decode(batch_size=10**12, context_tokens=10**6, datatype="float16")
    with pytest.raises(InvalidInputError) as caught:
        planned(decoder(), huge)
    assert str(caught.value) == (
        "attention_core.operations must stay below 2^63, so that every count is exact. Got 5.520e+20. "
        "Use a smaller batch, context or model."
    )


@pytest.mark.parametrize(
    ("ir", "field"),
    [
        (IRS.model, "operations"),
        (IRS.model.operations[0], "repeat"),
        (IRS.distributed, "tasks"),
        (IRS.distributed.tasks[0], "operations"),
        (IRS.distributed.tasks[0].operations, "tokens"),
        (IRS.plan, "workload"),
        (IRS.plan.template, "tasks"),
        (IRS.bound, "template"),
        (IRS.bound.template.implementation, "attention"),
    ],
)
def test_an_ir_can_not_be_changed(ir: object, field: str) -> None:
    before = getattr(ir, field)
    with pytest.raises(ValidationError, match="frozen"):
        setattr(ir, field, None)
    with pytest.raises(ValidationError, match="frozen"):
        delattr(ir, field)
    assert getattr(ir, field) is before


@given(mapped_models(), workloads(), st.sampled_from(KERNELS))
def test_the_passes_make_irs_that_hold(
    mapped: tuple[TransformerModelSpec, int, int], workload: WorkloadBinding, kernel: str
) -> None:
    model, ranks, stages = mapped
    irs = planned(model, workload, tensor_parallel=ranks, pipeline_parallel=stages, attention=kernel)
    for ir in (irs.model, irs.distributed, irs.plan.template, irs.bound.template):
        assert type(ir)(**fields(ir)) == ir
    assert irs.distributed.model_digest == irs.model.digest
    assert irs.plan.template.distributed_digest == irs.distributed.digest
    assert irs.bound.template.plan_digest == irs.plan.template.digest
    assert [task.id for task in irs.bound.template.tasks] == [task.id for task in irs.distributed.tasks]


FORBIDDEN = re.compile(
    r"second|latency|duration|(?<!up)time|GB/s|gb_per|bandwidth|flop_per|peak|tier|nvlink|infiniband"
    r"|nvidia|amd|gpu|cuda|hbm|tensor.core|efficiency",
    re.IGNORECASE,
)


@pytest.mark.parametrize("model", ["llama-3.1-70b", "phi-2", "opt-13b", "gpt3-175b-dense-mha"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_plan_names_no_time_no_tier_and_no_hardware(model: str, kernel: str) -> None:
    irs = planned(bp.load_model(model), STEP, tensor_parallel=4, pipeline_parallel=2, attention=kernel)
    for text in (irs.model.to_json(), irs.distributed.to_json(), irs.plan.to_json(), irs.bound.to_json()):
        assert FORBIDDEN.findall(text) == []
        assert [name for name in system_names() if name in text] == []
        assert [name for name in ("a100", "h100", "h200", "b200", "mi300", "l40s") if name in text.lower()] == []


def test_every_ir_can_be_printed() -> None:
    for ir in (IRS.model, IRS.distributed, IRS.plan, IRS.bound):
        title, *rows = str(ir).splitlines()
        assert title.startswith(type(ir).__name__)
        assert ir.digest[:12] in title
        assert all(row.startswith("  ") for row in rows)
    assert "decoder  " in str(IRS.model)
    assert "decode of 2 × (q 1, c 100) in float16" in str(IRS.plan)
    task, work = IRS.bound.task("lm_head")
    (line,) = [row for row in str(IRS.bound).splitlines() if row.split()[0] == task.id]
    assert line.split()[1:] == [f"{n:,}" for n in (1, work.operations, work.read_bytes, work.write_bytes, 0)]
    assert task.origin.formulas["operations"] in str(IRS.distributed)


def evaluated(formula: str, names: dict[str, int]) -> int:
    return eval(formula, {"__builtins__": {}}, names)


@given(mapped_models(), workloads())
def test_every_figure_can_be_computed_again_from_the_formula_that_made_it(
    mapped: tuple[TransformerModelSpec, int, int], workload: WorkloadBinding
) -> None:
    model, ranks, stages = mapped
    irs = planned(model, workload, tensor_parallel=ranks, pipeline_parallel=stages)
    element = {"float32": 4, "float8": 1}.get(workload.datatype, 2)
    operations = {operation.id for operation in irs.model.operations}
    for task, work in zip(irs.plan.template.tasks, irs.plan.work, strict=True):
        origin = task.origin
        assert origin.operation in operations
        assert hasattr(synthesizer, origin.made_by)
        names = {**origin.symbols, **workload.statistics()}
        names["weights"] = evaluated(origin.formulas.get("weights", "0"), names)
        got = {name: evaluated(formula, names) for name, formula in origin.formulas.items()}
        assert names["weights"] == irs.distributed.task(task.component).weights.constant
        assert work.operations == got.get("operations", 0)
        assert work.masked_operations == got.get("masked_operations", 0)
        assert work.read_bytes == element * got.get("read", 0)
        assert work.write_bytes == element * got.get("write", 0)
        assert work.message_bytes == element * got.get("message", 0)


def test_from_any_task_one_reads_its_operation_pass_and_formula() -> None:
    task, work = IRS.bound.task("qkv_projection")
    assert task.origin.operation == "decoder"
    assert task.origin.made_by == "DistributeTransformerInferencePass"
    assert task.origin.formulas["operations"] == "2*tokens*hidden*qkv_width + qkv_bias*tokens*qkv_width"
    assert task.origin.symbols["qkv_width"] == (4 + 2 * 1) * 16
    assert work.operations == 2 * 2 * 64 * 96
    with pytest.raises(KeyError):
        IRS.bound.task("experts")


def test_a_bound_plan_is_a_plan_with_its_kernels() -> None:
    assert isinstance(IRS.bound, BoundPlan)
    assert IRS.bound.phase == IRS.plan.phase == "decode"
    assert IRS.bound.template.implementation.attention == "flash"
    assert IRS.bound.template.implementation.kv_block_tokens == 1
