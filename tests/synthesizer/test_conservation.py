"""What all ranks do and hold together is the unsharded model, and what is declared beyond it."""

from __future__ import annotations

from architectures import (
    decoder,
    dense_mha,
    mapped_models,
    models,
    parameters,
    planned,
)
from hypothesis import given

from blueprint_nb.ir import DistributedTaskIR, LinearForm
from blueprint_nb.workload import TransformerModelSpec, WorkloadBinding

STEP = WorkloadBinding.decode(batch_size=1, context_tokens=1, datatype="float16")


def distributed(model: TransformerModelSpec, ranks: int = 1, stages: int = 1) -> DistributedTaskIR:
    return planned(model, STEP, tensor_parallel=ranks, pipeline_parallel=stages).distributed


def held(ir: DistributedTaskIR, kind: str) -> dict[str, LinearForm]:
    return {buffer.stage: buffer.elements for buffer in ir.buffers if buffer.kind == kind}


def over_stages(ir: DistributedTaskIR, kind: str) -> LinearForm:
    """Elements of all stages together, on one rank of each."""
    stages = held(ir, kind)
    inner = max(0, ir.pipeline_parallel - 2)
    return sum((form * (inner if stage == "inner" else 1) for stage, form in stages.items()), LinearForm())


@given(mapped_models())
def test_operations_over_ranks_are_the_unsharded_ones_and_the_repeated_ones(
    mapped: tuple[TransformerModelSpec, int, int],
) -> None:
    model, ranks, stages = mapped
    whole = {task.component: task for task in distributed(model).tasks}
    for task in distributed(model, ranks, stages).tasks:
        if task.unit == "network":
            assert task.operations.is_zero
            continue
        alone = whole.pop(task.component)
        assert task.operations * ranks - task.repeated_operations == alone.operations
        assert task.masked_operations * ranks == alone.masked_operations
        assert task.executions == alone.executions
        assert alone.repeated_operations.is_zero
    assert not whole


@given(mapped_models())
def test_weights_over_ranks_are_the_unsharded_ones_and_the_repeated_ones(
    mapped: tuple[TransformerModelSpec, int, int],
) -> None:
    model, ranks, stages = mapped
    whole = {task.component: task for task in distributed(model).tasks}
    for task in distributed(model, ranks, stages).tasks:
        alone = whole[task.component].weights if task.component in whole else LinearForm()
        assert task.weights * ranks - task.repeated_weights == alone


@given(mapped_models())
def test_weights_over_stages_are_the_model_the_repeated_ones_and_a_copy_of_the_tied_table(
    mapped: tuple[TransformerModelSpec, int, int],
) -> None:
    model, ranks, stages = mapped
    ir = distributed(model, ranks, stages)
    repeated = sum(task.repeated_weights.constant * task.executions for task in ir.tasks)
    table = (model.vocab_size or 0) * model.hidden_size
    padding = ir.sharding.padded_vocab_rows * model.hidden_size
    if model.tied_embeddings:
        shared = table + padding if stages == 1 else 0
        expected = parameters(model) + table + repeated - shared
    else:
        expected = parameters(model) + repeated
    assert over_stages(ir, "weights") * ranks == LinearForm(constant=expected)


@given(mapped_models())
def test_the_kv_cache_over_ranks_and_stages_is_the_unsharded_one_times_its_replication(
    mapped: tuple[TransformerModelSpec, int, int],
) -> None:
    model, ranks, stages = mapped
    ir = distributed(model, ranks, stages)
    replication = max(1, ranks // model.key_value_heads)
    assert ir.sharding.key_value_replication == replication
    whole = 2 * model.block_count * model.key_value_heads * model.attention_head_size
    assert over_stages(ir, "kv_cache") * ranks == LinearForm(allocated_context=whole * replication)
    assert all(not form.is_zero for form in held(ir, "kv_cache").values())


@given(mapped_models())
def test_the_vocabulary_is_padded_by_less_than_a_row_a_rank(mapped: tuple[TransformerModelSpec, int, int]) -> None:
    model, ranks, _ = mapped
    sharding = distributed(model, ranks).sharding
    assert 0 <= sharding.padded_vocab_rows < ranks
    assert sharding.vocab_rows * ranks - sharding.padded_vocab_rows == (model.vocab_size or 0)


@given(models())
def test_nothing_is_repeated_on_one_device(model: TransformerModelSpec) -> None:
    for task in distributed(model).tasks:
        assert task.repeated_operations.is_zero
        assert task.repeated_weights.is_zero


@given(mapped_models())
def test_stages_hold_every_block_once_in_order(mapped: tuple[TransformerModelSpec, int, int]) -> None:
    model, ranks, stages = mapped
    ir = distributed(model, ranks, stages)
    blocks = [stage.first_block + i for stage in ir.stages for i in range(stage.block_count)]
    assert blocks == list(range(model.block_count))
    assert [stage.index for stage in ir.stages] == list(range(stages))


def test_a_tied_head_shares_its_table_but_not_its_bias() -> None:
    untied = decoder(biases=frozenset({"lm_head"}))
    tied = decoder(biases=frozenset({"lm_head"}), tied_embeddings=True)
    table = 1001 * 64
    alone = [held(distributed(model), "weights")["only"].constant for model in (untied, tied)]
    assert alone[0] - alone[1] == table
    assert alone[1] == parameters(tied)
    staged = [held(distributed(model, 1, 2), "weights")["last"] for model in (untied, tied)]
    assert staged[0] == staged[1]


def test_rows_that_pad_the_vocabulary_are_declared() -> None:
    sharding = distributed(decoder(vocab_size=1001), ranks=8).sharding
    assert (sharding.vocab_rows, sharding.padded_vocab_rows) == (126, 7)


def test_the_reference_template_has_neither_vocabulary_nor_head() -> None:
    ir = distributed(dense_mha(), 2, 2)
    assert {task.origin.operation for task in ir.tasks} == {"decoder"}
    assert (ir.sharding.vocab_rows, ir.sharding.padded_vocab_rows) == (0, 0)
    block = 4 * 64 * 64 // 2 + 2 * 64 * 256 // 2 + 4 * 64
    assert {form.constant for form in held(ir, "weights").values()} == {2 * block}
