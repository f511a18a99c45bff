"""Which TP and PP a request can't have, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import InvalidInputError
from ..mapping import TransformerInferenceMappingSpec
from ..synthesizer.legality import pipeline_parallel_fault, tensor_parallel_fault
from .checks import check_network
from .inputs import RequestInputs
from .lowering import stack_block


@dataclass(frozen=True, slots=True)
class MappingFault:
    """Sizes of one axis that break the same rule."""

    axis: str
    """TP or PP."""
    sizes: tuple[int, ...]
    rule: str


def mapping_faults(inputs: RequestInputs, most: int = 16) -> list[MappingFault]:
    """The faults of every TP and PP up to `most`: TP first, in the order in which they are met."""
    block, blocks = stack_block(inputs.model)
    sizes = range(1, most + 1)
    tensor = ((size, tensor_parallel_fault(block, size) or _network_fault(inputs, size)) for size in sizes)
    pipeline = ((size, pipeline_parallel_fault(blocks, size)) for size in sizes)
    return [*_grouped("TP", tensor), *_grouped("PP", pipeline)]


def _network_fault(inputs: RequestInputs, ranks: int) -> str | None:
    mapping = TransformerInferenceMappingSpec(tensor_parallel=ranks, pipeline_parallel=1)
    try:
        check_network(inputs.system, mapping, inputs.network)
    except InvalidInputError as error:
        return error.rule
    return None


def _grouped(axis: str, faults: Iterable[tuple[int, str | None]]) -> list[MappingFault]:
    sizes: dict[str, list[int]] = {}
    for size, rule in faults:
        if rule is not None:
            sizes.setdefault(rule, []).append(size)
    return [MappingFault(axis, tuple(listed), rule) for rule, listed in sizes.items()]
