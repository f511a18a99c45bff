"""How many devices share a model, and how."""

from __future__ import annotations

from .._schema import Count, Record


class TransformerInferenceMappingSpec(Record):
    """Tensor-parallel ranks in each of some pipeline stages, in each of some replicas. Raises `InvalidInputError`."""

    tensor_parallel: Count = 1
    """Ranks that split every block (TP, t)."""
    pipeline_parallel: Count = 1
    """Stages that split the stack of blocks (PP)."""
    replicas: Count = 1
    """Independent copies; each serves its own batch."""

    @property
    def devices(self) -> int:
        """Devices in all: TP × PP × replicas."""
        return self.tensor_parallel * self.pipeline_parallel * self.replicas
