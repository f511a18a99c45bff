"""One step of inference: which sequences bring how many tokens, and in which datatype."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import model_validator

from .._schema import Count, Record
from ..errors import InvalidInputError
from .datatype import Datatype, known_datatype
from .statistics import STATISTICS, step_statistics


class InferencePhase(StrEnum):
    """A prefill takes a whole prompt at once, a decode step one token a sequence."""

    PREFILL = "prefill"
    DECODE = "decode"

    def workload(self, *, batch_size: int, context_tokens: int, datatype: str) -> WorkloadBinding:
        """The workload of this phase at a visible context."""
        query_tokens = context_tokens if self is InferencePhase.PREFILL else 1
        group = SequenceGroup(query_tokens=query_tokens, context_tokens=context_tokens, count=batch_size)
        return WorkloadBinding(groups=(group,), datatype=known_datatype(datatype))


class SequenceGroup(Record):
    """`count` sequences that do the same in this step. Raises `InvalidInputError`."""

    query_tokens: Count
    """New tokens of each sequence (q)."""
    context_tokens: Count
    """Tokens that attention sees in each sequence, the new ones included (c ≥ q)."""
    count: Count
    """Sequences in the group."""

    @model_validator(mode="after")
    def _context_includes_queries(self) -> Self:
        if self.context_tokens < self.query_tokens:
            raise InvalidInputError(
                "context_tokens",
                got=str(self.context_tokens),
                rule=f"must be at least query_tokens, {self.query_tokens}",
                next_step="The visible context includes the new tokens.",
            )
        return self


class WorkloadBinding(Record):
    """The groups of one step; a chunk or a mixed step is just another set of groups."""

    groups: tuple[SequenceGroup, ...]
    datatype: Datatype

    @classmethod
    def prefill(cls, *, batch_size: int, prompt_tokens: int, datatype: str) -> Self:
        """`batch_size` whole prompts (q = c = prompt_tokens)."""
        group = SequenceGroup(query_tokens=prompt_tokens, context_tokens=prompt_tokens, count=batch_size)
        return cls(groups=(group,), datatype=known_datatype(datatype))

    @classmethod
    def decode(cls, *, batch_size: int, context_tokens: int, datatype: str) -> Self:
        """One token for each of `batch_size` sequences (q = 1) at the visible context c."""
        group = SequenceGroup(query_tokens=1, context_tokens=context_tokens, count=batch_size)
        return cls(groups=(group,), datatype=known_datatype(datatype))

    @model_validator(mode="after")
    def _has_work(self) -> Self:
        if not self.groups:
            raise InvalidInputError("groups", got="()", rule="must hold at least one group of sequences")
        return self

    @property
    def phase(self) -> str:
        """`decode`: each sequence brings one token; `prefill`: each sees its own tokens; else `mixed`."""
        if all(group.query_tokens == group.context_tokens for group in self.groups):
            return str(InferencePhase.PREFILL)
        if all(group.query_tokens == 1 for group in self.groups):
            return str(InferencePhase.DECODE)
        return "mixed"

    def statistics(self, kv_block_tokens: int = 1) -> dict[str, int]:
        """The step's statistics (see `statistics`), as exact Python ints."""
        total = dict.fromkeys(STATISTICS, 0)
        for group in self.groups:
            part = step_statistics(group.query_tokens, group.context_tokens, group.count, kv_block_tokens)
            for name, value in part.items():
                total[name] += value
        return total
