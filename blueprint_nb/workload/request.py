"""What is asked of a model: one batch of equal requests, served together without a queue."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .._schema import Count, Record
from .datatype import Datatype


class TransformerInferenceRequestSpec(Record):
    """`batch_size` sequences with the same prompt and output length. Raises `InvalidInputError`."""

    batch_size: Count
    """Sequences that run together on one replica."""
    prompt_tokens: Count
    """Tokens of each prompt (S)."""
    generated_tokens: Annotated[Count, Field(le=10_000_000)]
    """Tokens made for each sequence (O): the first by the prefill, the others by O − 1 decode steps."""
    datatype: Datatype
    """Of weights, activations and KV cache alike."""

    @property
    def last_context_tokens(self) -> int:
        """Visible context of the last step: S + O − 1."""
        return self.prompt_tokens + self.generated_tokens - 1
