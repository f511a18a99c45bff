"""The smallest change that makes a request fit: fewest devices first, then TP before PP."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InvalidInputError
from ..mapping import TransformerInferenceMappingSpec
from ..synthesizer import legal_pipeline_parallel, legal_tensor_parallel
from .checks import check_network
from .inputs import RequestInputs
from .lowering import lower, stack_block
from .memory import peak_memory

_MOST_RANKS = 64


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

    None where not even one sequence fits on any legal mapping of up to 64 ranks.
    """
    for tensor_parallel, pipeline_parallel in candidate_mappings(inputs):
        if fits(inputs, tensor_parallel, pipeline_parallel, inputs.request.batch_size):
            return Fix(tensor_parallel, pipeline_parallel, inputs.request.batch_size)
    return _largest_batch(inputs)


def candidate_mappings(inputs: RequestInputs) -> list[tuple[int, int]]:
    """(TP, PP) that are legal for the model and the network: fewest devices first, then the larger TP."""
    block, blocks = stack_block(inputs.model)
    pairs = [
        (tensor_parallel, pipeline_parallel)
        for tensor_parallel in legal_tensor_parallel(block, _MOST_RANKS)
        for pipeline_parallel in legal_pipeline_parallel(blocks, blocks)
        if _is_reachable(inputs, tensor_parallel, pipeline_parallel)
    ]
    return sorted(pairs, key=lambda pair: (pair[0] * pair[1], pair[1]))


def fits(inputs: RequestInputs, tensor_parallel: int, pipeline_parallel: int, batch_size: int) -> bool:
    """Whether a whole request of this batch fits at this mapping."""
    mapping = TransformerInferenceMappingSpec(tensor_parallel=tensor_parallel, pipeline_parallel=pipeline_parallel)
    request = inputs.request.model_copy(update={"batch_size": batch_size})
    lowered = lower(inputs.model, mapping, request.datatype, inputs.attention)
    return peak_memory(lowered.bound, inputs.system.memory, request).fits


def _is_reachable(inputs: RequestInputs, tensor_parallel: int, pipeline_parallel: int) -> bool:
    mapping = TransformerInferenceMappingSpec(tensor_parallel=tensor_parallel, pipeline_parallel=pipeline_parallel)
    try:
        check_network(inputs.system, mapping, inputs.network)
    except InvalidInputError:
        return False
    return True


def _largest_batch(inputs: RequestInputs) -> Fix | None:
    mapping = inputs.mapping
    tensor_parallel, pipeline_parallel = mapping.tensor_parallel, mapping.pipeline_parallel
    fitting, too_large = 0, inputs.request.batch_size
    while too_large - fitting > 1:
        middle = (fitting + too_large) // 2
        if fits(inputs, tensor_parallel, pipeline_parallel, middle):
            fitting = middle
        else:
            too_large = middle
    return Fix(tensor_parallel, pipeline_parallel, fitting) if fitting else None
