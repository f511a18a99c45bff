"""What a model and a system allow: legal TP and PP, datatypes, cost modes; and in a line, why not the others.

A control offers what is possible and nothing else, because ipywidgets can't disable one entry of a list. The rules
are the engine's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from blueprint_nb import SystemProfile, TransformerModelSpec
from blueprint_nb.analysis import stack_block
from blueprint_nb.analysis.mapping_faults import MappingFault, mapping_faults
from blueprint_nb.cost import MODES
from blueprint_nb.mapping import NetworkTierBinding
from blueprint_nb.workload import DATATYPES

MOST_RANKS = 64
"""Largest TP that the explorer offers."""

MOST_SEQUENCES = 4096
"""Largest batch that the explorer offers."""

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
    block, blocks = stack_block(model)
    ranks = min(block.attention_heads, MOST_RANKS)
    faults = mapping_faults(model, system, NetworkTierBinding(), ranks, blocks)
    return Options(
        tensor_parallel=_size("TP", ranks, faults),
        pipeline_parallel=_size("PP", blocks, faults),
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


def _size(axis: str, most: int, faults: Iterable[MappingFault]) -> Choice[int]:
    met = [fault for fault in faults if fault.axis == axis]
    faulty = {size for fault in met for size in fault.sizes}
    legal = tuple(size for size in range(1, most + 1) if size not in faulty)
    return Choice(legal, "; ".join(fault.text for fault in met))


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
