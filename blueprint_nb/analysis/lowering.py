"""From a model and a mapping to the template that every plan of them shares, through each IR in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from ..ir import BlockAttributes, BoundTemplate, DistributedTaskIR, ModelIR, PlanTemplate
from ..mapping import TransformerInferenceMappingSpec
from ..synthesizer import (
    DistributeTransformerInferencePass,
    ImplementationBinding,
    build_model_ir,
    plan_template,
)
from ..workload import TransformerModelSpec


@dataclass(frozen=True, slots=True)
class Lowered:
    """Every IR between a model and its bound plans."""

    model: ModelIR
    distributed: DistributedTaskIR
    plan: PlanTemplate
    bound: BoundTemplate
    implementation: ImplementationBinding


def default_attention(model: TransformerModelSpec) -> str:
    """`unfused` in the template `dense-mha`, as the reference has it; `flash` for real models."""
    return "unfused" if model.is_reference else "flash"


def stack_block(model: TransformerModelSpec) -> tuple[BlockAttributes, int]:
    """A model's block, and how many of it are in the stack."""
    stack = next(op for op in build_model_ir(model).operations if op.block is not None)
    return cast(BlockAttributes, stack.block), stack.repeat


def lower(
    model: TransformerModelSpec,
    mapping: TransformerInferenceMappingSpec,
    datatype: str,
    attention: str | None = None,
) -> Lowered:
    """Lowers as far as a template goes. Raises `InvalidInputError` where the mapping can't divide the model."""
    kernel = default_attention(model) if attention is None else attention
    implementation = ImplementationBinding(attention=kernel)
    model_ir = build_model_ir(model)
    distributed = DistributeTransformerInferencePass(mapping).run(model_ir)
    plan = plan_template(distributed, datatype)
    return Lowered(model_ir, distributed, plan, implementation.bind_template(plan), implementation)
