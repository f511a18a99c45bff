"""What is compared with a profile: a plan, and what it is the plan of. It holds no time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...evidence.vidur import TENSOR_PARALLEL
from ...ir import BoundPlan
from ...mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from ...system import SystemProfile
from ...workload import TransformerModelSpec


@dataclass(frozen=True, eq=False)
class Subject:
    """A bound plan and its origin."""

    model: TransformerModelSpec
    mapping: TransformerInferenceMappingSpec
    network: NetworkTierBinding
    system: SystemProfile
    plan: BoundPlan

    @property
    def longest_context_tokens(self) -> int:
        """The largest visible context of the step."""
        return max(group.context_tokens for group in self.plan.workload.groups)

    @property
    def is_prefill(self) -> bool:
        """Whether sequences bring more than one token, as Vidur's files see it."""
        return any(group.query_tokens > 1 for group in self.plan.workload.groups) or self.plan.phase == "prefill"

    def compute_key(self) -> dict[str, Any]:
        """The step as a compute file has it. num_tokens = Σ sequences · query tokens."""
        key = {
            **self.block_key(),
            TENSOR_PARALLEL: self.mapping.tensor_parallel,
            "num_tokens": self.plan.statistics["tokens"],
        }
        return key if self.model.vocab_size is None else {**key, "vocab_size": self.model.vocab_size}

    def block_key(self) -> dict[str, Any]:
        """The block as a compute file has it, whatever the step."""
        model = self.model
        return {
            "n_embd": model.hidden_size,
            "n_expanded_embd": model.feedforward_size,
            "n_head": model.attention_heads,
            "n_kv_head": model.key_value_heads,
            "use_gated_mlp": int(model.mlp == "gated"),
        }

    def heads_key(self) -> dict[str, Any]:
        """The heads as an attention file has them, whatever the step."""
        model = self.model
        return {
            "n_embd": model.hidden_size,
            "n_q_head": model.attention_heads,
            "n_kv_head": model.key_value_heads,
        }

    def attention_key(self, backend: str, block_size: int) -> dict[str, Any] | None:
        """The step as an attention file has it; None for a step of several groups, which no file has.

        kv_cache_size is what was cached before the step: context − query tokens.
        """
        if len(self.plan.workload.groups) != 1:
            return None
        group = self.plan.workload.groups[0]
        return {
            **self.heads_key(),
            "block_size": block_size,
            TENSOR_PARALLEL: self.mapping.tensor_parallel,
            "batch_size": group.count,
            "prefill_chunk_size": group.query_tokens if self.is_prefill else 0,
            "kv_cache_size": group.context_tokens - group.query_tokens,
            "is_prefill": int(self.is_prefill),
            "attention_backend": backend,
        }

    def collective_key(self, ranks: int, message_bytes: int, tier: int) -> Mapping[str, Any]:
        """A message as a network file has it.

        A tier that reaches no farther than tier 0 is within the box. Over a wider one, a group that fits in a box has
        one device in each, a larger one fills its boxes.
        """
        box = self.system.network[0].max_ranks
        within = self.system.network[tier].max_ranks <= box
        in_each = ranks if within else (box if ranks > box else 1)
        return {"size": message_bytes, "num_workers": ranks, "devices_per_node": in_each}
