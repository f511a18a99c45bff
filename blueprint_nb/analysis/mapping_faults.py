"""Which TP and PP a model can't have on a system, and why: the network's reach first, then what divides the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ..mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from ..synthesizer.legality import pipeline_parallel_fault, tensor_parallel_fault
from ..system import SystemProfile
from ..workload import TransformerModelSpec
from .checks import network_fault
from .lowering import stack_block

_MOST_RUNS: Final = 8


@dataclass(frozen=True, slots=True)
class MappingFault:
    """Sizes of one axis that break the same rule."""

    axis: str
    """TP or PP."""
    sizes: tuple[int, ...]
    rule: str

    @property
    def text(self) -> str:
        """ "3, 5–7: must divide the 32 attention heads"."""
        return f"{ranges(self.sizes)}: {self.rule}"


def mapping_faults(
    model: TransformerModelSpec,
    system: SystemProfile,
    network: NetworkTierBinding,
    most_tensor_parallel: int,
    most_pipeline_parallel: int,
) -> list[MappingFault]:
    """The faults of every TP and PP up to the given ones: TP first, in the order in which they are met."""
    block, blocks = stack_block(model)

    def unreachable(**sizes: int) -> str | None:
        return network_fault(system, TransformerInferenceMappingSpec(**sizes), network)

    tensor = (
        (ranks, unreachable(tensor_parallel=ranks) or tensor_parallel_fault(block, ranks))
        for ranks in range(1, most_tensor_parallel + 1)
    )
    pipeline = (
        (stages, unreachable(pipeline_parallel=stages) or pipeline_parallel_fault(blocks, stages))
        for stages in range(1, most_pipeline_parallel + 1)
    )
    return [*_grouped("TP", tensor), *_grouped("PP", pipeline)]


def ranges(numbers: Iterable[int]) -> str:
    """Rising numbers in words: 3, 5–7, 9–15; an ellipsis stands for what follows the eighth."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    words = [_run(first, last) for first, last in runs[:_MOST_RUNS]]
    return ", ".join(words) + (", …" if len(runs) > _MOST_RUNS else "")


def _run(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}, {last}" if last == first + 1 else f"{first}–{last}"


def _grouped(axis: str, faults: Iterable[tuple[int, str | None]]) -> list[MappingFault]:
    sizes: dict[str, list[int]] = {}
    for size, rule in faults:
        if rule is not None:
            sizes.setdefault(rule, []).append(size)
    return [MappingFault(axis, tuple(listed), rule) for rule, listed in sizes.items()]
