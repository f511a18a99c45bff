"""The models that ship: they load, are named as their files, and count what their authors published."""

from __future__ import annotations

import pytest

import blueprint_nb as bp
from blueprint_nb.catalog import load_model, model_names, profiles_folder
from blueprint_nb.errors import InvalidInputError, UnsupportedError
from blueprint_nb.workload import TransformerModelSpec

SHIPPED = {
    "codellama-34b", "gpt3-175b", "gpt3-175b-dense-mha", "internlm-20b", "llama-2-70b", "llama-2-7b",
    "llama-3.1-405b", "llama-3.1-70b", "llama-3.1-8b", "mistral-7b", "opt-13b", "phi-2", "phi-2-dense-mha",
    "qwen-72b", "qwen2.5-72b", "qwen2.5-7b",
}  # fmt: skip

EXACT_PARAMETERS = {
    "codellama-34b": 33_743_970_304,
    "gpt3-175b": 174_604_259_328,
    "internlm-20b": 20_088_714_240,
    "llama-2-70b": 68_976_648_192,
    "llama-2-7b": 6_738_415_616,
    "llama-3.1-405b": 405_853_388_800,
    "llama-3.1-70b": 70_553_706_496,
    "llama-3.1-8b": 8_030_261_248,
    "mistral-7b": 7_241_732_096,
    "opt-13b": 12_853_473_280,
    "phi-2": 2_779_683_840,
    "qwen-72b": 72_287_920_128,
    "qwen2.5-72b": 72_706_203_648,
    "qwen2.5-7b": 7_615_616_512,
}

ARCHITECTURES = {
    "gpt3-175b": "96 blocks, MHA, plain GELU MLP, LayerNorm, serial residual, learned positions, "
    "biases in attention_output, mlp, qkv, tied embeddings",
    "gpt3-175b-dense-mha": "96 blocks, MHA, plain GELU MLP, decoder stack only (template dense-mha)",
    "llama-2-70b": "80 blocks, GQA 64/8, gated SiLU MLP, RMSNorm, serial residual, RoPE, no biases, untied embeddings",
    "opt-13b": "40 blocks, MHA, plain ReLU MLP, LayerNorm, serial residual, learned positions, "
    "biases in attention_output, mlp, qkv, tied embeddings",
    "phi-2": "32 blocks, MHA, plain GELU MLP, LayerNorm, parallel residual, RoPE on 32 of 80 elements, "
    "biases in attention_output, lm_head, mlp, qkv, untied embeddings",
    "qwen2.5-7b": "28 blocks, GQA 28/4, gated SiLU MLP, RMSNorm, serial residual, RoPE, biases in qkv, "
    "untied embeddings",
}

LONGEST_CONTEXT_TOKENS = {
    "codellama-34b": 16_384,
    "gpt3-175b": 2_048,
    "gpt3-175b-dense-mha": 2_048,
    "internlm-20b": 4_096,
    "llama-2-70b": 4_096,
    "llama-2-7b": 4_096,
    "llama-3.1-405b": 131_072,
    "llama-3.1-70b": 131_072,
    "llama-3.1-8b": 131_072,
    "mistral-7b": 32_768,
    "opt-13b": 2_048,
    "phi-2": 2_048,
    "phi-2-dense-mha": 4_096,
    "qwen-72b": 32_768,
    "qwen2.5-72b": 131_072,
    "qwen2.5-7b": 131_072,
}

WHOLE_MODELS = sorted(EXACT_PARAMETERS)


def test_exactly_the_expected_models_ship() -> None:
    assert set(model_names()) == SHIPPED


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_a_model_is_named_as_its_file(name: str) -> None:
    assert load_model(name).name == name


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_a_model_takes_the_context_of_its_base_release(name: str) -> None:
    assert load_model(name).sequence_length == LONGEST_CONTEXT_TOKENS[name]


@pytest.mark.parametrize("name", WHOLE_MODELS)
def test_a_whole_model_has_the_known_number_of_parameters(name: str) -> None:
    size = bp.describe(name)
    assert size.total_parameters == size.active_parameters == EXACT_PARAMETERS[name]


@pytest.mark.parametrize("name", WHOLE_MODELS)
def test_a_whole_model_counts_what_its_authors_published(name: str) -> None:
    provenance = load_model(name).provenance
    assert provenance is not None
    off = abs(bp.describe(name).total_parameters - provenance.published_parameters)
    assert off <= provenance.published_precision // 2


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_a_model_says_where_its_figures_come_from(name: str) -> None:
    provenance = load_model(name).provenance
    assert provenance is not None
    assert provenance.source
    assert provenance.published_source


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_a_model_file_names_no_address(name: str) -> None:
    text = (profiles_folder() / "models" / f"{name}.toml").read_text(encoding="utf-8")
    assert "://" not in text


@pytest.mark.parametrize("name", sorted(ARCHITECTURES))
def test_an_architecture_reads_in_words(name: str) -> None:
    assert load_model(name).architecture == ARCHITECTURES[name]


@pytest.mark.parametrize("name", ["phi-2-dense-mha", "gpt3-175b-dense-mha"])
def test_a_reference_model_says_that_it_is_a_stack_only(name: str) -> None:
    model = load_model(name)
    assert model.is_reference
    assert model.vocab_size is None
    assert model.provenance is not None
    assert "counts the decoder stack only" in model.provenance.notes


def test_the_reference_models_have_the_reference_shapes() -> None:
    phi, gpt = load_model("phi-2-dense-mha"), load_model("gpt3-175b-dense-mha")
    assert (phi.hidden_size, phi.feedforward_size, phi.block_count) == (2560, 10240, 32)
    assert (phi.attention_heads, phi.key_value_heads, phi.attention_head_size) == (32, 32, 80)
    assert (gpt.hidden_size, gpt.feedforward_size, gpt.block_count) == (12288, 49152, 96)
    assert (gpt.attention_heads, gpt.key_value_heads, gpt.attention_head_size) == (96, 96, 128)


def test_mistral_says_that_its_sliding_window_is_left_out() -> None:
    provenance = load_model("mistral-7b").provenance
    assert provenance is not None
    assert "sliding window of 4,096 tokens, which this profile leaves out" in provenance.notes


EXPERTS = "all tokens go through one MLP here, not through routed experts"
LATENT = "the KV cache holds whole keys and values here, not a latent projection of them"
WINDOW = "every query sees its whole context here, not a sliding window"


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("num_local_experts", 8, EXPERTS),
        ("n_routed_experts", 256, EXPERTS),
        ("kv_lora_rank", 512, LATENT),
        ("sliding_window", 4096, WINDOW),
        ("layer_types", ["full", "linear"], "all blocks are of one kind here"),
        ("encoder_layers", 12, "there is a decoder stack only"),
    ],
)
def test_what_a_model_can_not_say_is_refused_with_the_reason(field: str, value: object, reason: str) -> None:
    fields = load_model("mistral-7b").model_dump()
    with pytest.raises(UnsupportedError) as caught:
        TransformerModelSpec(**fields, **{field: value})
    assert str(caught.value) == f"{field} can't be said: {reason}. Got {value!r}. Leave this model out."


DENSE_MHA_MESSAGE = (
    "{field} can't be chosen in the template dense-mha. Got {got}. Give template = 'decoder' and describe the block."
)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mlp", "gated"),
        ("norm", "rms_norm"),
        ("rotary_size", 32),
        ("position_rows", 9),
    ],
)
def test_the_reference_template_takes_nothing_that_it_would_ignore(field: str, value: object) -> None:
    fields = load_model("phi-2-dense-mha").model_dump() | {field: value}
    with pytest.raises(InvalidInputError) as caught:
        TransformerModelSpec(**fields)
    assert str(caught.value) == DENSE_MHA_MESSAGE.format(field=field, got=value)


def test_a_vocabulary_describes_a_reference_model_and_changes_nothing_about_its_stack() -> None:
    plain = load_model("phi-2-dense-mha")
    named = TransformerModelSpec(**(plain.model_dump() | {"vocab_size": 51_200}))
    assert bp.describe(named) == bp.describe(plain)
    assert bp.estimate(named, "a100_80g").decode.equals(bp.estimate(plain, "a100_80g").decode)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden_size": True}, "hidden_size must be an integer from 1 to 1,000,000,000,000. Got True."),
        ({"hidden_size": 4096.0}, "hidden_size must be an integer from 1 to 1,000,000,000,000. Got 4096.0."),
        ({"block_count": 0}, "block_count must be an integer from 1 to 1,000,000,000,000. Got 0."),
        ({"mlp": "swiglu"}, "mlp must be 'plain' or 'gated'. Got 'swiglu'."),
        ({"tied_embeddings": 1}, "tied_embeddings must be true or false. Got 1."),
        ({"biases": "qkv"}, "biases must be a list. Got 'qkv'."),
        ({"name": 7}, "name must be text. Got 7."),
        ({"rotary_size": 129}, "rotary_size must be at most the head size, 128. Got 129."),
        (
            {"position_rows": -1, "position": "learned"},
            "position_rows must be an integer from 0 to 1,000,000,000,000. Got -1.",
        ),
        (
            {"key_value_heads": 5},
            "key_value_heads must divide the 32 attention heads. Got 5. "
            "Each KV head serves the same number of query heads.",
        ),
        (
            {"vocab_size": None},
            "vocab_size is required in the template decoder. Got nothing. "
            "Nothing about a real model is assumed.",
        ),
        (
            {"position_rows": 4096},
            "position_rows goes with position = 'learned' only. Got 4096. Leave it out.",
        ),
    ],
)  # fmt: skip
def test_a_model_that_breaks_a_rule_is_refused(change: dict[str, object], message: str) -> None:
    fields = load_model("llama-3.1-8b").model_dump() | change
    with pytest.raises(InvalidInputError) as caught:
        TransformerModelSpec(**fields)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "field",
    ["vocab_size", "mlp", "activation", "norm", "residual", "position", "tied_embeddings", "biases"],
)
def test_nothing_about_a_whole_model_is_assumed(field: str) -> None:
    fields = load_model("llama-3.1-8b").model_dump()
    del fields[field]
    with pytest.raises(InvalidInputError) as caught:
        TransformerModelSpec(**fields)
    assert caught.value.field == field
    assert caught.value.rule == "is required in the template decoder"
