"""BoundPlan: a portable plan as chosen kernels do it."""

from __future__ import annotations

from .._schema import Count, Record
from .plan import BoundWorkload, Template


class Implementation(Record):
    """The kernels a plan is bound to."""

    attention: str
    kv_block_tokens: Count = 1


class BoundTemplate(Template):
    """What all bound plans of a template share."""

    plan_digest: str
    """Digest of the portable template."""
    implementation: Implementation

    @property
    def kv_block_tokens(self) -> int:
        """Tokens in a block of the KV cache."""
        return self.implementation.kv_block_tokens


class BoundPlan(BoundWorkload):
    """The plan of one step with its kernels chosen; still no time and no hardware."""

    template: BoundTemplate
