"""Sizes that are published, or that follow by hand from a published architecture."""

from __future__ import annotations

import pytest
from architectures import models, parameters
from hypothesis import given

import blueprint_nb as bp
from blueprint_nb.errors import InvalidInputError
from blueprint_nb.workload import TransformerModelSpec


def test_llama_3_70b_has_its_known_blocks() -> None:
    size = bp.describe("llama-3.1-70b")
    assert round(size.total_parameters / 1e9, 2) == 70.55
    assert round(size.block_parameters / 1e9, 2) == 68.45
    assert size.block_parameters == 80 * (8192 * (64 + 2 * 8) * 128 + 8192 * 8192 + 3 * 8192 * 28672 + 2 * 8192)
    assert size.embedding_parameters == 128_256 * 8192
    assert (
        size.architecture
        == "80 blocks, GQA 64/8, gated SiLU MLP, RMSNorm, serial residual, RoPE, no biases, untied embeddings"
    )


@pytest.mark.parametrize(("name", "blocks"), [("phi-2-dense-mha", 32), ("gpt3-175b-dense-mha", 96)])
def test_the_reference_counts_its_stack_only(name: str, blocks: int) -> None:
    model, size = bp.load_model(name), bp.describe(name)
    h, f = model.hidden_size, model.feedforward_size
    assert size.total_parameters == size.block_parameters == blocks * (4 * h * h + 2 * h * f + 4 * h)
    assert size.embedding_parameters == 0


@given(models())
def test_a_description_counts_every_matrix(model: TransformerModelSpec) -> None:
    size = bp.describe(model)
    assert size.total_parameters == size.active_parameters == parameters(model)
    assert size.name == model.name
    assert size.embedding_parameters == (model.vocab_size or 0) * model.hidden_size


@pytest.mark.parametrize(
    ("name", "mapping", "held"),
    [
        ("llama-2-7b", {}, 524_288),
        ("llama-3.1-70b", {}, 327_680),
        ("llama-3.1-70b", {"tensor_parallel": 8}, 40_960),
        ("llama-3.1-70b", {"tensor_parallel": 16}, 40_960),
        ("llama-3.1-70b", {"tensor_parallel": 64}, 40_960),
        ("llama-3.1-70b", {"tensor_parallel": 8, "pipeline_parallel": 2}, 20_480),
        ("llama-3.1-70b", {"datatype": "float8"}, 163_840),
        ("llama-3.1-70b", {"datatype": "float32"}, 655_360),
        ("gpt3-175b-dense-mha", {}, 2 * 96 * 12288 * 2),
        ("phi-2", {}, 2 * 32 * 2560 * 2),
    ],
)
def test_a_token_takes_its_known_bytes_of_cache(name: str, mapping: dict[str, object], held: int) -> None:
    assert bp.kv_cache_bytes(name, **mapping) == held
    assert bp.kv_cache_bytes(name, context_tokens=100, batch_size=3, **mapping) == 300 * held


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"context_tokens": 0},
            "context_tokens must be an integer from 1 to 1,000,000,000,000. Got 0.",
        ),
        ({"batch_size": -2}, "batch_size must be an integer from 1 to 1,000,000,000,000. Got -2."),
        (
            {"context_tokens": 5000},
            "context_tokens must be at most the sequence length of phi-2, 2,048 tokens. Got 5,000.",
        ),
        (
            {"tensor_parallel": 3},
            "tensor_parallel must divide the 32 attention heads. Got 3. Legal up to 64: 1, 2, 4, 8, 16, 32.",
        ),
        (
            {"datatype": "float64"},
            "datatype must be bfloat16, float16, float32 or float8. Got 'float64'. "
            "Did you mean float16, bfloat16 or float8?",
        ),
    ],
)
def test_a_cache_that_can_not_be_is_refused_at_its_field(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        bp.kv_cache_bytes("phi-2", **arguments)
    assert str(caught.value) == message
