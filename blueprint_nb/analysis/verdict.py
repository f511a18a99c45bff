"""The verdict: fits or not, by how much, how fast, bound by what, by whose figures, and the least change that fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cost import BOUNDS, Band, CostBlock
from ..system import SystemProfile
from ..units import format_bytes, format_count, format_gib, format_percent, three_digits, time_unit
from ..words import counted
from .bands import CHANCE, band_at, between
from .composition import adds_terms
from .memory import MemoryReport
from .memory_search import Fix, smallest_fix
from .priced_by import calibrated_by
from .unasked import unasked_by
from .unfelt import unfelt_in_words

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
    """With the 90 % band, where there is one."""
    bound: str
    throughput: str
    fix: str
    """What to change; empty when it fits."""
    basis: str = ""
    """The calibration that prices it, what comes from other sets, and what of a what-if it does not feel; empty in the
    analytical modes."""
    unasked: str = ""
    """What was asserted but not asked for, or learned to no effect; empty where there is no such thing."""

    @property
    def parts(self) -> tuple[str, ...]:
        """All sentences that say something."""
        limits = (self.headline, self.memory, self.latency, self.bound, self.throughput, self.fix)
        return tuple(part for part in (*limits, self.basis, self.unasked) if part)

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
        bound=_bound(costs, estimate.inputs.system),
        throughput=_throughput(estimate),
        basis=_basis(estimate, costs),
        unasked=unasked_by(estimate).in_words,
        fix="" if memory.fits else _fix(estimate, smallest_fix(estimate.inputs)),
    )


def _peak(memory: MemoryReport) -> str:
    if memory.peak_phase == "prefill":
        return "in the prefill"
    return f"at context {format_count(memory.peak_context_tokens)}"


def _latency(estimate: Estimate) -> str:
    if not len(estimate.decode_contexts):
        scale, unit = time_unit(estimate.prefill_seconds)
        band = _sure([estimate.prefill_band], scale)
        return f"prefill {three_digits(estimate.prefill_seconds / scale)} {unit}{band}, no decode step"
    first, last = float(estimate.decode_seconds[0]), float(estimate.decode_seconds[-1])
    scale, unit = time_unit(max(first, last))
    contexts = [format_count(int(context)) for context in estimate.decode_contexts[[0, -1]]]
    band = _sure(_end_bands(estimate, first, last), scale)
    if len(estimate.decode_contexts) == 1:
        return f"decode {three_digits(first / scale)} {unit}/step at context {contexts[0]}{band}"
    arrow = f"{three_digits(first / scale)} → {three_digits(last / scale)} {unit}/step"
    return f"decode {arrow} at contexts {contexts[0]}–{contexts[1]}{band}"


def _end_bands(estimate: Estimate, first: float, last: float) -> list[Band | None]:
    """Of the first and the last decode step; one around both where each lies within the band of the other."""
    start, end = (band_at(estimate.decode_band, index) for index in (0, -1))
    if start is None or end is None:
        return [None]
    if start.low_seconds <= last <= start.high_seconds and end.low_seconds <= first <= end.high_seconds:
        return [Band(min(start.low_seconds, end.low_seconds), max(start.high_seconds, end.high_seconds))]
    return [start, end]


def _sure(bands: list[Band | None], scale: float) -> str:
    """ ", 90 % between 3.20 and 3.90"; of both ends, where there are two."""
    known = [band for band in bands if band is not None]
    if not known:
        return ""
    first, *others = [between(band, scale) for band in known]
    return f", {first}" + "".join(f", at the end {other.removeprefix(f'{CHANCE} ')}" for other in others)


def _bound(costs: CostBlock, system: SystemProfile) -> str:
    """The term with most of the time: all terms of a component where they add up; else its floor, and for all the rest
    of its time the largest other. Nothing bounds what takes no time, as it was asserted to.
    """
    seconds = dict.fromkeys(BOUNDS, 0.0)
    for activity, cost in costs.priced:
        terms = {name: _total(getattr(cost, f"{name}_seconds"), costs) for name in BOUNDS}
        if not adds_terms(cost, system):
            floor = terms.pop("floor")
            largest = max(terms, key=lambda name: terms[name])
            terms = {"floor": floor, largest: _total(cost.seconds, costs) - floor}
        for name, own in terms.items():
            seconds[name] += own * activity.executions
    largest = max(seconds, key=lambda name: seconds[name])
    if not seconds[largest]:
        return "bound by nothing: every component takes 0 s"
    share = format_percent(seconds[largest] / sum(seconds.values()))
    if largest == "floor":
        return f"bound by launches and waits ({share} of the time)"
    return f"{largest}-bound ({share} of the time)"


def _total(seconds: Any, costs: CostBlock) -> float:
    return float(np.broadcast_to(seconds, np.shape(costs.seconds)).sum())


def _throughput(estimate: Estimate) -> str:
    mapping = estimate.inputs.mapping
    devices = counted(estimate.devices, "device")
    rate = estimate.tokens_per_second
    if rate is None:
        return f"no rate, as it takes no time, on {devices}"
    replica = " per replica" if mapping.replicas > 1 else ""
    return f"{three_digits(rate)} tokens/s{replica} on {devices}"


def _basis(estimate: Estimate, costs: CostBlock) -> str:
    inputs = estimate.inputs
    if not inputs.calibration:
        return ""
    unfelt = unfelt_in_words(inputs.system, inputs.request.datatype)
    return "; ".join(filter(None, [calibrated_by(inputs.calibration, costs), unfelt]))


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
