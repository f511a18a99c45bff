"""What a model and a system allow: legal TP and PP, datatypes, cost modes; and in a line, why not the others.

A control offers what is possible and nothing else, because ipywidgets can't disable one entry of a list. The rules
are the engine's own: divisibility from `synthesizer.legality`, the rank limit from the network tier.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from blueprint_nb import SystemProfile, TransformerModelSpec
from blueprint_nb.analysis import stack_block
from blueprint_nb.cost import MODES
from blueprint_nb.synthesizer import legal_pipeline_parallel, legal_tensor_parallel
from blueprint_nb.synthesizer.legality import pipeline_parallel_fault, tensor_parallel_fault
from blueprint_nb.workload import DATATYPES

MOST_RANKS = 64
MOST_SEQUENCES = 4096
"""Largest batch that the explorer offers."""

_MOST_RUNS = 8
_MOST_NAMED_FIGURES = 3

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Choice(Generic[Value]):
    """The values that a control offers, and why it doesn't offer others (empty when it offers all)."""

    offered: tuple[Value, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Options:
    """What can be chosen for one model on one system."""

    tensor_parallel: Choice[int]
    pipeline_parallel: Choice[int]
    datatype: Choice[str]
    mode: Choice[str]
    most_context_tokens: int
    """Prompt + generated − 1 may be at most this."""


def options_for(model: TransformerModelSpec, system: SystemProfile) -> Options:
    """The options of `model` on `system`."""
    return Options(
        tensor_parallel=_tensor_parallel(model, system),
        pipeline_parallel=_pipeline_parallel(model),
        datatype=_datatype(system),
        mode=_mode(system),
        most_context_tokens=model.sequence_length,
    )


def ladder(most: int) -> tuple[int, ...]:
    """The stops of a slider from 1 to `most`: powers of two, the values halfway between them, and `most`."""
    stops, power = [1], 2
    while power <= most:
        stops += [power, power * 3 // 2]
        power *= 2
    return (*(stop for stop in stops if stop < most), most)


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


def _tensor_parallel(model: TransformerModelSpec, system: SystemProfile) -> Choice[int]:
    block, _ = stack_block(model)
    most = min(block.attention_heads, MOST_RANKS)
    tier = system.network[0]
    legal = legal_tensor_parallel(block, most)
    faults: dict[str, list[int]] = {}
    for ranks in range(1, min(most, tier.max_ranks) + 1):
        if fault := tensor_parallel_fault(block, ranks):
            faults.setdefault(fault, []).append(ranks)
    if beyond := [ranks for ranks in legal if ranks > tier.max_ranks]:
        size = f"{tier.max_ranks:,} rank{'s' if tier.max_ranks > 1 else ''}"
        faults[f"more than the {size} of network tier 0 ({tier.name})"] = beyond
    return Choice(tuple(ranks for ranks in legal if ranks <= tier.max_ranks), _reasons(faults))


def _pipeline_parallel(model: TransformerModelSpec) -> Choice[int]:
    _, blocks = stack_block(model)
    offered = tuple(legal_pipeline_parallel(blocks, blocks))
    faults: dict[str, list[int]] = {}
    for stages in range(1, blocks + 1):
        if fault := pipeline_parallel_fault(blocks, stages):
            faults.setdefault(fault, []).append(stages)
    return Choice(offered, _reasons(faults))


def _reasons(faults: dict[str, list[int]]) -> str:
    return "; ".join(f"{ranges(numbers)}: {fault}" for fault, numbers in faults.items())


def _datatype(system: SystemProfile) -> Choice[str]:
    missing = [name for name in DATATYPES if name not in system.datatypes]
    reason = f"{', '.join(missing)}: {system.name} has no peak for {'it' if len(missing) == 1 else 'them'}"
    return Choice(system.datatypes, reason if missing else "")


def _mode(system: SystemProfile) -> Choice[str]:
    missing = system.missing_efficiency
    if not missing:
        return Choice(tuple(MODES), "")
    named = ", ".join(missing[:_MOST_NAMED_FIGURES])
    more = len(missing) - _MOST_NAMED_FIGURES
    rest = f" and {more} more" if more > 0 else ""
    return Choice(("peak-only",), f"system-evidence: {system.name} has no measured efficiency ({named}{rest})")
