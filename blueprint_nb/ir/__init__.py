"""The intermediate representations: immutable, verified, digested, and free of time and hardware."""

from .bound import BoundPlan, BoundTemplate, Implementation
from .distributed import DistributedBuffer, DistributedTask, DistributedTaskIR, Sharding, Stage
from .form import LinearForm, check_int64
from .model_ir import (
    BlockAttributes,
    EmbeddingAttributes,
    HeadAttributes,
    KeyValueCacheEffect,
    ModelIR,
    ModelOperation,
)
from .packing import packed_digests
from .plan import PlanBuffer, PlanTask, PlanTemplate, PortablePlanIR, TaskWork, Template
from .task import Origin

__all__ = [
    "BlockAttributes",
    "BoundPlan",
    "BoundTemplate",
    "DistributedBuffer",
    "DistributedTask",
    "DistributedTaskIR",
    "EmbeddingAttributes",
    "HeadAttributes",
    "Implementation",
    "KeyValueCacheEffect",
    "LinearForm",
    "ModelIR",
    "ModelOperation",
    "Origin",
    "PlanBuffer",
    "PlanTask",
    "PlanTemplate",
    "PortablePlanIR",
    "Sharding",
    "Stage",
    "TaskWork",
    "Template",
    "check_int64",
    "packed_digests",
]
