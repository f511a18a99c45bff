"""The verdict: fits or not, by how much, how fast, bound by what, and the smallest change that makes it fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cost import CostBlock
from ..units import format_bytes, format_count, format_gib, format_percent, three_digits, time_unit
from .memory import MemoryReport
from .memory_search import Fix, smallest_fix

if TYPE_CHECKING:
    from .estimate import Estimate


@dataclass(frozen=True, slots=True)
class Verdict:
    """Sentences about an estimate, the important first."""

    fits: bool
    headline: str
    """"Fits" or "Does not fit"."""
    memory: str
    latency: str
    bound: str
    throughput: str
    fix: str
    """What to change; empty when it fits."""

    @property
    def parts(self) -> tuple[str, ...]:
        """All sentences that say something."""
        parts = (self.headline, self.memory, self.latency, self.bound, self.throughput, self.fix)
        return tuple(part for part in parts if part)

    @property
    def text(self) -> str:
        """All of it on one line."""
        return " · ".join(self.parts)


def verdict_of(estimate: Estimate) -> Verdict:
    """The verdict on `estimate`."""
    memory = estimate.memory
    held = (
        f"{format_gib(memory.total_bytes).removesuffix(' GiB')} of {format_gib(memory.usable_bytes)} usable per device"
    )
    short = f", {format_bytes(memory.total_bytes - memory.usable_bytes)} short {_peak(memory)}"
    costs = estimate.prefill.costs if estimate.decode_costs is None else estimate.decode_costs
    return Verdict(
        fits=memory.fits,
        headline="Fits" if memory.fits else "Does not fit",
        memory=held if memory.fits else held + short,
        latency=_latency(estimate),
        bound=_bound(costs, adds_terms=estimate.inputs.system.processing_mode == "no_overlap"),
        throughput=_throughput(estimate),
        fix="" if memory.fits else _fix(estimate, smallest_fix(estimate.inputs)),
    )


def _peak(memory: MemoryReport) -> str:
    if memory.peak_phase == "prefill":
        return "in the prefill"
    return f"at context {format_count(memory.peak_context_tokens)}"


def _latency(estimate: Estimate) -> str:
    if not len(estimate.decode_contexts):
        scale, unit = time_unit(estimate.prefill_seconds)
        return f"prefill {three_digits(estimate.prefill_seconds / scale)} {unit}, no decode step"
    first, last = float(estimate.decode_seconds[0]), float(estimate.decode_seconds[-1])
    scale, unit = time_unit(max(first, last))
    contexts = [format_count(int(context)) for context in estimate.decode_contexts[[0, -1]]]
    if len(estimate.decode_contexts) == 1:
        return f"decode {three_digits(first / scale)} {unit}/step at context {contexts[0]}"
    arrow = f"{three_digits(first / scale)} → {three_digits(last / scale)} {unit}/step"
    return f"decode {arrow} at contexts {contexts[0]}–{contexts[1]}"


def _bound(costs: CostBlock, adds_terms: bool) -> str:
    """The term with most of the time: all terms of a component where they add up, its largest where they overlap."""
    seconds = {"compute": 0.0, "memory": 0.0, "network": 0.0}
    for activity, cost in costs.priced:
        terms = {name: _total(getattr(cost, f"{name}_seconds"), costs) for name in seconds}
        counted = terms if adds_terms else [max(terms, key=lambda name: terms[name])]
        for name in counted:
            seconds[name] += terms[name] * activity.executions
    largest = max(seconds, key=lambda name: seconds[name])
    return f"{largest}-bound ({format_percent(seconds[largest] / sum(seconds.values()))} of the time)"


def _total(seconds: Any, costs: CostBlock) -> float:
    return float(np.broadcast_to(seconds, np.shape(costs.seconds)).sum())


def _throughput(estimate: Estimate) -> str:
    mapping = estimate.inputs.mapping
    devices = f"{estimate.devices:,} device{'s' if estimate.devices > 1 else ''}"
    replica = " per replica" if mapping.replicas > 1 else ""
    return f"{three_digits(estimate.tokens_per_second)} tokens/s{replica} on {devices}"


def _fix(estimate: Estimate, fix: Fix | None) -> str:
    batch, mapping = estimate.inputs.request.batch_size, estimate.inputs.mapping
    if fix is None:
        return "no legal TP × PP holds even one such sequence: shorten it or use a smaller datatype"
    replica = " a replica" if mapping.replicas > 1 else ""
    layout = f"TP {fix.tensor_parallel:,} × PP {fix.pipeline_parallel:,} ({fix.devices:,} devices{replica})"
    if fix.batch_size == batch:
        return f"fits with {layout}"
    as_it_is = (fix.tensor_parallel, fix.pipeline_parallel) == (mapping.tensor_parallel, mapping.pipeline_parallel)
    where = "" if as_it_is else f" on {layout}"
    return f"fits with batch {fix.batch_size:,} instead of {batch:,}{where}; no legal TP × PP holds all of it"
