"""From a model and a mapping to the template that every plan of them shares, through each IR in turn."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import one_of
from ..ir import BlockAttributes, BoundTemplate, DistributedTaskIR, ModelIR, PlanTemplate
from ..mapping import TransformerInferenceMappingSpec
from ..synthesizer import (
    ATTENTION_KERNELS,
    DistributeTransformerInferencePass,
    ImplementationBinding,
    build_model_ir,
    plan_template,
)
from ..synthesizer.parts import ModelParts
from ..workload import TransformerModelSpec
from .oracle import oracles_shut


@dataclass(frozen=True, slots=True)
class Lowered:
    """Every IR between a model and its bound plans."""

    model: ModelIR
    distributed: DistributedTaskIR
    plan: PlanTemplate
    bound: BoundTemplate
    implementation: ImplementationBinding


def attention_of(model: TransformerModelSpec, chosen: str | None) -> str:
    """The kernel that was `chosen`, else `unfused` for the template `dense-mha`, `flash` for a real model.

    Raises `UnknownNameError`.
    """
    if chosen is None:
        return "unfused" if model.is_reference else "flash"
    return one_of("attention", chosen, ATTENTION_KERNELS)


def stack_block(model: TransformerModelSpec) -> tuple[BlockAttributes, int]:
    """A model's block, and how many of it are in the stack."""
    parts = ModelParts(build_model_ir(model))
    return parts.block, parts.stack.repeat


def lower(
    model: TransformerModelSpec,
    mapping: TransformerInferenceMappingSpec,
    datatype: str,
    attention: str,
) -> Lowered:
    """Lowers as far as a template goes. Raises `InvalidInputError` where the mapping can't divide the model."""
    with oracles_shut():
        implementation = ImplementationBinding(attention=attention)
        model_ir = build_model_ir(model)
        distributed = DistributeTransformerInferencePass(mapping).run(model_ir)
        plan = plan_template(distributed, datatype)
        return Lowered(model_ir, distributed, plan, implementation.bind_template(plan), implementation)
