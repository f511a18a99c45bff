"""From workload and mapping to a plan. Never sees a system."""

from .distribute import DistributeTransformerInferencePass
from .frontend import build_model_ir
from .implementation import ATTENTION_KERNELS, Attention, ImplementationBinding
from .legality import (
    legal_pipeline_parallel,
    legal_tensor_parallel,
    pipeline_parallel_fault,
    tensor_parallel_fault,
)
from .plan import PlanTransformerInferencePass, plan_template

__all__ = [
    "ATTENTION_KERNELS",
    "Attention",
    "DistributeTransformerInferencePass",
    "ImplementationBinding",
    "PlanTransformerInferencePass",
    "build_model_ir",
    "legal_pipeline_parallel",
    "legal_tensor_parallel",
    "pipeline_parallel_fault",
    "plan_template",
    "tensor_parallel_fault",
]
