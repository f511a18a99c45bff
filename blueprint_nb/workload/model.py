"""What a transformer is made of, as far as its work and memory go.

Two templates. `dense-mha` is the reference: a stack of serial blocks with multi-head attention and a
two-matrix GELU MLP, without embedding or LM head. `decoder` is a whole dense decoder-only model, whose block
is said field by field.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from .._schema import Count, Flag, Index, Record, Text
from ..errors import InvalidInputError

Template = Literal["dense-mha", "decoder"]
Mlp = Literal["plain", "gated"]
Activation = Literal["gelu", "relu", "silu"]
Norm = Literal["layer_norm", "rms_norm"]
Residual = Literal["serial", "parallel"]
Position = Literal["rope", "learned", "alibi", "none"]
Bias = Literal["qkv", "attention_output", "mlp", "lm_head"]

_EXPERTS = "all tokens go through one MLP here, not through routed experts"
_LATENT = "the KV cache holds whole keys and values here, not a latent projection of them"
_WINDOW = "every query sees its whole context here, not a sliding window"

_BLOCK_FIELDS: Final = ("mlp", "activation", "norm", "residual", "position", "tied_embeddings", "biases")
_DECODER_FIELDS: Final = (*_BLOCK_FIELDS, "rotary_size", "position_rows")


class ModelProvenance(Record):
    """Where a model's figures come from. Not part of what is computed, nor of any digest."""

    source: Text
    """The publication or configuration file the fields were read from."""
    published_parameters: Count
    """The parameter count its authors state."""
    published_precision: Count = 1
    """What the published count is rounded to: 1 when exact, 1,000,000,000 for "7B"."""
    published_source: Text
    """Where the count is stated."""
    notes: Text = ""
    """What this profile leaves out or decides, for the reader."""


class TransformerModelSpec(Record):
    """A dense decoder-only transformer. Raises `InvalidInputError`, `UnsupportedError` for the unsayable."""

    not_content: ClassVar[frozenset[str]] = frozenset({"provenance"})
    unsayable: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("experts", "expert_count", "num_experts", "num_local_experts", "n_routed_experts"), _EXPERTS),
        **dict.fromkeys(("num_experts_per_tok", "experts_per_token", "moe_intermediate_size"), _EXPERTS),
        **dict.fromkeys(("kv_lora_rank", "q_lora_rank", "latent_attention", "latent_size"), _LATENT),
        **dict.fromkeys(("sliding_window", "sliding_window_tokens", "attention_window", "window_tokens"), _WINDOW),
        "layer_types": "all blocks are of one kind here",
        "encoder_layers": "there is a decoder stack only",
    }

    name: Text
    template: Template = "dense-mha"
    """`dense-mha`: the reference stack. `decoder`: a whole model, described by the fields below."""
    hidden_size: Count
    """Width of the residual stream (elements)."""
    feedforward_size: Count
    """Inner width of the MLP; of each of gate and up when gated (elements)."""
    sequence_length: Count
    """Longest context the model takes (tokens)."""
    attention_heads: Count
    """Query heads."""
    key_value_heads: Count
    """Heads of the KV cache: as many as query heads in MHA, fewer in GQA, 1 in MQA."""
    attention_head_size: Count
    """Elements of one head."""
    block_count: Annotated[Count, Field(le=100_000)]
    """Transformer blocks (layers)."""
    vocab_size: Count | None = None
    """Rows of the embedding and of the LM head. `dense-mha` has neither, so there it only describes the model."""
    mlp: Mlp = "plain"
    """`plain`: up, activation, down. `gated`: gate and up, activation(gate) · up, down."""
    activation: Activation = "gelu"
    norm: Norm = "layer_norm"
    """`layer_norm` has a scale and a shift, `rms_norm` a scale only."""
    residual: Residual = "serial"
    """`parallel`: attention and MLP read one norm and are added together."""
    position: Position = "rope"
    rotary_size: Count | None = None
    """Elements of each head that RoPE rotates; the whole head when None."""
    position_rows: Index | None = None
    """Rows of the learned position table; `sequence_length` when None."""
    biases: frozenset[Bias] = frozenset()
    """Which projections add a bias: `qkv`, `attention_output`, `mlp` (all its matrices), `lm_head`."""
    tied_embeddings: Flag = False
    """Whether the LM head is the embedding table itself."""
    provenance: ModelProvenance | None = None

    def __init__(self, /, **values: object) -> None:
        values = dict(values)
        template = values.get("template", "dense-mha")
        if isinstance(template, str) and template == "dense-mha" and "key_value_heads" not in values:
            values["key_value_heads"] = values.get("attention_heads")
        super().__init__(**values)

    @model_validator(mode="after")
    def _is_one_architecture(self) -> Self:
        if self.attention_heads % self.key_value_heads:
            raise InvalidInputError(
                "key_value_heads",
                got=str(self.key_value_heads),
                rule=f"must divide the {self.attention_heads} attention heads",
                next_step="Each KV head serves the same number of query heads.",
            )
        if self.template == "dense-mha":
            self._check_reference()
        else:
            self._check_decoder()
        return self

    def _check_reference(self) -> None:
        changed = sorted(self.model_fields_set.intersection(_DECODER_FIELDS))
        for name in changed:
            if getattr(self, name) != type(self).model_fields[name].default:
                raise InvalidInputError(
                    name,
                    got=str(getattr(self, name)),
                    rule="can't be chosen in the template dense-mha",
                    next_step="Give template = 'decoder' and describe the block.",
                )
        if self.key_value_heads != self.attention_heads:
            raise InvalidInputError(
                "key_value_heads",
                got=str(self.key_value_heads),
                rule=f"must equal the {self.attention_heads} attention heads in the template dense-mha",
                next_step="Give template = 'decoder' for GQA or MQA.",
            )
        if self.attention_head_size * self.attention_heads != self.hidden_size:
            raise InvalidInputError(
                "attention_head_size",
                got=str(self.attention_head_size),
                rule=f"times {self.attention_heads} heads must equal hidden_size {self.hidden_size} "
                "in the template dense-mha",
                next_step="Give template = 'decoder' for other head sizes.",
            )

    def _check_decoder(self) -> None:
        given = self.model_fields_set
        for name in ("vocab_size", *_BLOCK_FIELDS):
            if name not in given or getattr(self, name) is None:
                raise InvalidInputError(
                    name,
                    rule="is required in the template decoder",
                    got="nothing",
                    next_step="Nothing about a real model is assumed.",
                )
        if self.rotary_size is not None and self.position != "rope":
            raise InvalidInputError(
                "rotary_size",
                got=str(self.rotary_size),
                rule="goes with position = 'rope' only",
                next_step="Leave it out.",
            )
        if self.rotary_size is not None and self.rotary_size > self.attention_head_size:
            raise InvalidInputError(
                "rotary_size",
                got=str(self.rotary_size),
                rule=f"must be at most the head size, {self.attention_head_size}",
            )
        if self.position_rows is not None and self.position != "learned":
            raise InvalidInputError(
                "position_rows",
                got=str(self.position_rows),
                rule="goes with position = 'learned' only",
                next_step="Leave it out.",
            )

    @property
    def is_reference(self) -> bool:
        """Whether this is the template `dense-mha`."""
        return self.template == "dense-mha"

    @property
    def architecture(self) -> str:
        """The block in words."""
        attention = "MHA"
        if self.key_value_heads < self.attention_heads:
            grouped = f"GQA {self.attention_heads}/{self.key_value_heads}"
            attention = "MQA" if self.key_value_heads == 1 else grouped
        start = f"{self.block_count} blocks, {attention}"
        if self.is_reference:
            return f"{start}, plain GELU MLP, decoder stack only (template dense-mha)"
        norm = {"layer_norm": "LayerNorm", "rms_norm": "RMSNorm"}[self.norm]
        activation = {"gelu": "GELU", "relu": "ReLU", "silu": "SiLU"}[self.activation]
        biases = f"biases in {', '.join(sorted(self.biases))}" if self.biases else "no biases"
        ties = "tied" if self.tied_embeddings else "untied"
        return (
            f"{start}, {self.mlp} {activation} MLP, {norm}, {self.residual} residual, "
            f"{self._position_words()}, {biases}, {ties} embeddings"
        )

    def _position_words(self) -> str:
        if self.position == "rope" and self.rotary_size not in (None, self.attention_head_size):
            return f"RoPE on {self.rotary_size} of {self.attention_head_size} elements"
        words = {"rope": "RoPE", "learned": "learned positions", "alibi": "ALiBi", "none": "no positions"}
        return words[self.position]
