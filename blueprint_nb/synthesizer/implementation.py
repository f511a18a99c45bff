"""ImplementationBinding: PortablePlanIR + kernel choice -> BoundPlan.

What a kernel changes about a plan, and nothing else: `unfused` attention computes the whole square of scores and
holds it in memory (its traffic is not counted, as in the reference); `flash` skips what the causal mask hides and
keeps scores on chip (Dao et al. 2022); `paged` does so over a KV cache that is held in blocks of tokens (Kwon et al.
2023).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Final

from pydantic import BeforeValidator

from .._schema import Count, Record
from ..errors import one_of
from ..ir.bound import BoundPlan, BoundTemplate, Implementation
from ..ir.form import LinearForm
from ..ir.plan import PlanTask, PlanTemplate, PortablePlanIR

ATTENTION_KERNELS: Final = ("unfused", "flash", "paged")

DEFAULT_KV_BLOCK_TOKENS: Final = 16
"""Tokens in a block of a paged KV cache: the default of vLLM."""


def _known_kernel(value: object) -> str:
    return one_of("attention", value, ATTENTION_KERNELS)


Attention = Annotated[str, BeforeValidator(_known_kernel)]
"""The name of a kernel: unfused, flash or paged."""


class ImplementationBinding(Record):
    """Chooses the kernels of a plan."""

    attention: Attention
    kv_block_tokens: Count = DEFAULT_KV_BLOCK_TOKENS
    """Tokens in a block of the cache, where attention is paged."""

    def bind(self, plan: PortablePlanIR) -> BoundPlan:
        """The plan as these kernels do it."""
        return BoundPlan(template=self.bind_template(plan.template), workload=plan.workload)

    def bind_template(self, template: PlanTemplate) -> BoundTemplate:
        """What all bound plans of a template share."""
        return _bind(self, template)


@lru_cache(maxsize=256)
def _bind(binding: ImplementationBinding, template: PlanTemplate) -> BoundTemplate:
    unfused = binding.attention == "unfused"
    block = binding.kv_block_tokens if binding.attention == "paged" else 1
    return BoundTemplate(
        plan_digest=template.digest,
        datatype=template.datatype,
        implementation=Implementation(attention=binding.attention, kv_block_tokens=block),
        tasks=template.tasks if unfused else tuple(_unmasked(task) for task in template.tasks),
        buffers=tuple(buffer for buffer in template.buffers if unfused or not buffer.unfused_only),
    )


def _unmasked(task: PlanTask) -> PlanTask:
    if task.masked_operations.is_zero:
        return task
    changes = {"operations": task.operations - task.masked_operations, "masked_operations": LinearForm()}
    return task.model_copy(update=changes)
