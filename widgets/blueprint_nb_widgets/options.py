"""What a model and a system allow: legal TP and PP, datatypes, cost modes, calibrations; in a line, why no others.

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
from blueprint_nb.analysis.providers import calibrations_of, default_mode
from blueprint_nb.catalog import POOLED
from blueprint_nb.cost import modes_of
from blueprint_nb.cost.families.machine import missing_figures
from blueprint_nb.mapping import NetworkTierBinding
from blueprint_nb.words import few
from blueprint_nb.workload import DATATYPES

MOST_RANKS = 64
"""Largest TP that the explorer offers."""

MOST_SEQUENCES = 4096
"""Largest batch that the explorer offers."""

_MOST_NAMED_FIGURES = 3
_USUAL_DATATYPE = "float16"

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Choice(Generic[Value]):
    """The values that a control offers, and why it doesn't offer others (empty when it offers all)."""

    offered: tuple[Value, ...]
    reason: str
    default: Value
    """What is taken where nothing that is offered was asked for."""


@dataclass(frozen=True, slots=True)
class Options:
    """What can be chosen for one model on one system."""

    tensor_parallel: Choice[int]
    pipeline_parallel: Choice[int]
    datatype: Choice[str]
    mode: Choice[str]
    calibration: Choice[str]
    """Of the mode `calibrated`."""
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
        calibration=_calibration(system),
        most_context_tokens=model.sequence_length,
    )


def ladder(most: int) -> tuple[int, ...]:
    """The stops of a slider from 1 to `most`: powers of two, the values halfway between them, and `most`."""
    stops, power = [1], 2
    while power <= most:
        stops += [power, power * 3 // 2]
        power *= 2
    return (*(stop for stop in stops if stop < most), most)


def is_what_if(system: SystemProfile) -> bool:
    """Whether some of its figures are those of `SystemProfile.with_overrides`."""
    return "what-if" in system.sources.values()


def _size(axis: str, most: int, faults: Iterable[MappingFault]) -> Choice[int]:
    met = [fault for fault in faults if fault.axis == axis]
    faulty = {size for fault in met for size in fault.sizes}
    legal = tuple(size for size in range(1, most + 1) if size not in faulty)
    return Choice(legal, "; ".join(fault.text for fault in met), legal[0])


def _datatype(system: SystemProfile) -> Choice[str]:
    offered = system.datatypes
    missing = [name for name in DATATYPES if name not in offered]
    reason = f"{', '.join(missing)}: {system.name} has no peak for {'it' if len(missing) == 1 else 'them'}"
    default = next((name for name in offered if name == _USUAL_DATATYPE), next(iter(offered), _USUAL_DATATYPE))
    return Choice(offered, reason if missing else "", default)


def _mode(system: SystemProfile) -> Choice[str]:
    offered, default = modes_of(system), default_mode(system)
    efficiency = few(system.missing_efficiency, _MOST_NAMED_FIGURES)
    reasons = {
        "system-evidence": f"{system.name} has no measured efficiency ({efficiency})",
        "calibrated": f"{system.name} lacks {' and '.join(missing_figures(system))}",
    }
    reason = "; ".join(f"{mode}: {reasons[mode]}" for mode in reasons if mode not in offered)
    return Choice(offered, reason, default if default in offered else offered[-1])


def _calibration(system: SystemProfile) -> Choice[str]:
    offered = calibrations_of(system)
    reason = f"{'What-if' if is_what_if(system) else 'Never measured'}: priced by the {POOLED} calibration"
    return Choice(offered, "" if system.calibrations else reason, offered[0])
