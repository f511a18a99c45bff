"""PlanTransformerInferencePass: DistributedTaskIR + workload -> PortablePlanIR.

A datatype turns elements into bytes, a step's statistics turn forms into integers. No time, no hardware, no kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..ir.distributed import DistributedTaskIR
from ..ir.plan import PlanBuffer, PlanTask, PlanTemplate, PortablePlanIR
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
    size = element_bytes(datatype)
    return PlanTemplate(
        distributed_digest=distributed.digest,
        datatype=datatype,
        tasks=tuple(
            PlanTask(
                id=task.id,
                component=task.component,
                primitive=task.primitive,
                source_layer=task.source_layer,
                unit=task.unit,
                executions=task.executions,
                depends_on=task.depends_on,
                collective=task.collective,
                ranks=task.ranks,
                operations=task.operations,
                masked_operations=task.masked_operations,
                read_bytes=task.read * size,
                write_bytes=task.write * size,
                message_bytes=task.message * size,
                origin=task.origin,
            )
            for task in distributed.tasks
        ),
        buffers=tuple(
            PlanBuffer(
                id=buffer.id,
                kind=buffer.kind,
                stage=buffer.stage,
                bytes=buffer.elements * size,
                transient=buffer.transient,
                unfused_only=buffer.unfused_only,
            )
            for buffer in distributed.buffers
        ),
    )
