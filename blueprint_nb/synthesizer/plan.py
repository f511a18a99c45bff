"""PlanTransformerInferencePass: DistributedTaskIR + workload -> PortablePlanIR.

A datatype turns elements into bytes, a step's statistics turn forms into integers. No time, no hardware, no kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..ir.distributed import DistributedTaskIR
from ..ir.plan import PlanBuffer, PlanTask, PlanTemplate, PortablePlanIR
from ..ir.task import Buffer, Task, shared_fields
from ..workload import WorkloadBinding, element_bytes


@dataclass(frozen=True)
class PlanTransformerInferencePass:
    """Binds one step's workload."""

    workload: WorkloadBinding

    def run(self, distributed: DistributedTaskIR) -> PortablePlanIR:
        """The exact plan of the step. Raises `InvalidInputError` past 2^63."""
        return PortablePlanIR(template=plan_template(distributed, self.workload.datatype), workload=self.workload)


@lru_cache(maxsize=256)
def plan_template(distributed: DistributedTaskIR, datatype: str) -> PlanTemplate:
    """What all plans of a distributed model in one datatype share: every form, in operations and bytes."""
    element = element_bytes(datatype)
    return PlanTemplate(
        distributed_digest=distributed.digest,
        datatype=datatype,
        tasks=tuple(
            PlanTask(
                **shared_fields(task, Task),
                read_bytes=task.read * element,
                write_bytes=task.write * element,
                message_bytes=task.message * element,
            )
            for task in distributed.tasks
        ),
        buffers=tuple(
            PlanBuffer(**shared_fields(buffer, Buffer), bytes=buffer.elements * element)
            for buffer in distributed.buffers
        ),
    )
