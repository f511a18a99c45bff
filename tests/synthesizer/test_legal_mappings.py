"""Which mappings can divide a model, and what the others are told."""

from __future__ import annotations

import pytest
from architectures import decoder, dense_mha, divisors, models, planned
from architectures import legal_tensor_parallel as expected_tensor_parallel
from hypothesis import given

from blueprint_nb.errors import InvalidInputError
from blueprint_nb.synthesizer import build_model_ir, legal_pipeline_parallel, legal_tensor_parallel
from blueprint_nb.workload import TransformerModelSpec, WorkloadBinding

STEP = WorkloadBinding.decode(batch_size=1, context_tokens=8, datatype="float16")


@given(models())
def test_legal_tensor_parallel_gives_every_rank_whole_heads_and_columns(model: TransformerModelSpec) -> None:
    block = next(op.block for op in build_model_ir(model).operations if op.block)
    assert list(legal_tensor_parallel(block, 100)) == expected_tensor_parallel(model)
    assert list(legal_pipeline_parallel(model.block_count, 100)) == divisors(model.block_count)


@pytest.mark.parametrize(
    ("fields", "ranks", "stages", "message"),
    [
        (
            {},
            3,
            1,
            "tensor_parallel must divide the 8 attention heads. Got 3. Legal up to 64: 1, 2, 4, 8.",
        ),
        (
            {"feedforward_size": 12},
            8,
            1,
            "tensor_parallel must divide the feed-forward size, 12. Got 8. Legal up to 64: 1, 2, 4.",
        ),
        (
            {"attention_heads": 12, "key_value_heads": 6, "feedforward_size": 24},
            4,
            1,
            "tensor_parallel must divide the 6 KV heads or be a multiple of them, so that each rank holds whole heads. "
            "Got 4. Legal up to 64: 1, 2, 3, 6, 12.",
        ),
        ({}, 1, 3, "pipeline_parallel must divide the 4 blocks. Got 3. Legal up to 64: 1, 2, 4."),
        ({}, 1, 8, "pipeline_parallel must divide the 4 blocks. Got 8. Legal up to 64: 1, 2, 4."),
        (
            {},
            10**12,
            1,
            "tensor_parallel must divide the 8 attention heads. Got 1000000000000. Legal up to 64: 1, 2, 4, 8.",
        ),
    ],
)
def test_an_illegal_mapping_is_refused_with_the_legal_ones(
    fields: dict[str, int], ranks: int, stages: int, message: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        planned(decoder(**fields), STEP, tensor_parallel=ranks, pipeline_parallel=stages)
    assert str(caught.value) == message


def test_the_reference_template_divides_as_the_reference_says() -> None:
    with pytest.raises(InvalidInputError, match="must divide the 8 attention heads"):
        planned(dense_mha(), STEP, tensor_parallel=16)
    assert planned(dense_mha(), STEP, tensor_parallel=8, pipeline_parallel=4).distributed.sharding.query_heads == 1
