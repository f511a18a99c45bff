"""The smallest change that makes a request fit: fewest devices first, then TP before PP."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InvalidInputError
from ..mapping import TransformerInferenceMappingSpec
from ..synthesizer import legal_pipeline_parallel, legal_tensor_parallel
from .checks import network_fault
from .inputs import RequestInputs
from .lowering import lower, stack_block
from .memory import peak_memory

_MOST_RANKS = 64
"""Largest TP that is tried."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A mapping or a batch that fits."""

    tensor_parallel: int
    pipeline_parallel: int
    batch_size: int

    @property
    def devices(self) -> int:
        """Devices of one replica."""
        return self.tensor_parallel * self.pipeline_parallel


def smallest_fix(inputs: RequestInputs) -> Fix | None:
    """The mapping with the fewest devices that holds the request, else the largest batch that fits as it is mapped.

    Where as it is mapped not even one sequence fits, the largest batch on the first mapping that holds one; None where
    no legal mapping does.
    """
    candidates = candidate_mappings(inputs)
    for tensor_parallel, pipeline_parallel in candidates:
        if fits(inputs, tensor_parallel, pipeline_parallel, inputs.request.batch_size):
            return Fix(tensor_parallel, pipeline_parallel, inputs.request.batch_size)
    given = (inputs.mapping.tensor_parallel, inputs.mapping.pipeline_parallel)
    return next((fix for pair in (given, *candidates) if (fix := _largest_batch(inputs, *pair))), None)


def candidate_mappings(inputs: RequestInputs) -> list[tuple[int, int]]:
    """(TP, PP) that are legal for the model and the network: fewest devices first, then the larger TP."""
    block, blocks = stack_block(inputs.model)
    pairs = [
        (tensor_parallel, pipeline_parallel)
        for tensor_parallel in legal_tensor_parallel(block, _MOST_RANKS)
        for pipeline_parallel in legal_pipeline_parallel(blocks, blocks)
        if network_fault(inputs.system, _mapping(tensor_parallel, pipeline_parallel), inputs.network) is None
    ]
    return sorted(pairs, key=lambda pair: (pair[0] * pair[1], pair[1]))


def fits(inputs: RequestInputs, tensor_parallel: int, pipeline_parallel: int, batch_size: int) -> bool:
    """Whether a whole request of this batch fits at this mapping."""
    mapping = _mapping(tensor_parallel, pipeline_parallel)
    request = inputs.request.model_copy(update={"batch_size": batch_size})
    lowered = lower(inputs.model, mapping, request.datatype, inputs.attention)
    try:
        return peak_memory(lowered.bound, inputs.system.memory, request).fits
    except InvalidInputError:  # past 2^63, which no memory holds
        return False


def _mapping(tensor_parallel: int, pipeline_parallel: int) -> TransformerInferenceMappingSpec:
    return TransformerInferenceMappingSpec(tensor_parallel=tensor_parallel, pipeline_parallel=pipeline_parallel)


def _largest_batch(inputs: RequestInputs, tensor_parallel: int, pipeline_parallel: int) -> Fix | None:
    """The largest batch at a mapping that does not hold the whole one; None where it does not hold one sequence."""
    if not fits(inputs, tensor_parallel, pipeline_parallel, 1):
        return None
    fitting, too_large = 1, inputs.request.batch_size
    while too_large - fitting > 1:
        middle = (fitting + too_large) // 2
        if fits(inputs, tensor_parallel, pipeline_parallel, middle):
            fitting = middle
        else:
            too_large = middle
    return Fix(tensor_parallel, pipeline_parallel, fitting)
