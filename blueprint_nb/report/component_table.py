"""Components of one step as rows of text: the one place that says how a component's cost reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..analysis import Estimate, RequestInputs
from ..analysis.bands import band_text
from ..analysis.composition import adds_terms
from ..analysis.explain import explanation_of
from ..analysis.fits import fit_of
from ..analysis.fitted_machine import fitted_bytes_per_second
from ..analysis.priced_by import origin_of, set_name
from ..analysis.rates import ratio, share_text
from ..analysis.step import Step, bound_of, step_of
from ..cost import ANALYTICAL_MODES, USER_ASSERTED, ComponentActivity, ComponentCost
from ..cost.analytical import carrying_tier
from ..system import SystemProfile
from ..units import format_count, format_decimal, format_seconds
from .component_names import component_name


@dataclass(frozen=True, slots=True)
class ComponentRow:
    """One component of a step, in words."""

    component: str
    seconds: str
    """Of all its executions in the step."""
    share: str
    """Of the step's seconds; "–" where it takes none."""
    executions: str
    """Times · seconds of one."""
    bound: str
    """compute, memory, network or floor."""
    why: str
    """The work behind the bound and the rate it gets."""
    band: str
    """ "580–710 µs": that nine of ten such times lie in; empty where nobody knows."""
    source: str
    """The calibration set, and how it meets the component where that is not in the range it observed; empty where the
    cost mode says it all."""
    explanation: str
    """How the time of one execution comes about; empty in the analytical modes."""


_WORTH_SAYING = 0.05
"""Of a component's time, where the lesser term is added to the greater."""

_ROUNDING = 1e-9

_AS_ASKED = ("in range", "formula")
"""Matches that go without saying."""

FROM_CACHE: Final = "in part from L2"
ROW_LATENCY: Final = "part by part"
"""A row, or rows side by side."""
ROWS_IN_TURN: Final = "rows in turn"
LOOK_UPS: Final = "look-ups"

_ONE_BY_ONE = {"waves": ROWS_IN_TURN, "serial": LOOK_UPS, "elements": "elements, looked up one by one"}
"""Terms of the row-wise families that no operations or bytes explain, and what they are spent on."""

_PLACES = ("in ", "between ", "within ", "across ")


def component_table(estimate: Estimate, phase: str) -> list[ComponentRow]:
    """The components of the prefill or of the last decode step, in plan order."""
    step = step_of(estimate, phase)
    return [component_row(estimate, step, activity, cost) for activity, cost in step.costs.priced]


def component_row(estimate: Estimate, step: Step, activity: ComponentActivity, cost: ComponentCost) -> ComponentRow:
    """One component of `step`."""
    seconds = cost.seconds * activity.executions
    bound = bound_of(activity, cost)
    return ComponentRow(
        component=component_name(activity.component),
        seconds=format_seconds(seconds),
        share=share_text(ratio(seconds, step.seconds)),
        executions=f"{format_count(activity.executions)} × {format_seconds(cost.seconds)}",
        bound=bound,
        why=_reason(estimate, step, activity, cost, bound),
        band=band_text(cost.band, cost.seconds, activity.executions),
        source=_source(cost),
        explanation=explanation_of(estimate, step, activity, cost),
    )


def _source(cost: ComponentCost) -> str:
    """ "vllm-0.24", "pooled, outside range: kv_heads"."""
    origin = origin_of(cost)
    if origin is None or origin.provider in ANALYTICAL_MODES:
        return ""
    match = "" if origin.match in _AS_ASKED else f", {origin.match.removesuffix(', in range')}"
    return f"{set_name(origin)}{match}"


def _reason(estimate: Estimate, step: Step, activity: ComponentActivity, cost: ComponentCost, bound: str) -> str:
    """ "39.3 MB at 1.54 TB/s", "1.20 GFLOP at 187 TFLOP/s", "16.4 kB over NVLink 4, 8 ranks", "floor of 2.41 µs";
    both if both count.
    """
    system = estimate.inputs.system
    if not cost.seconds:
        origin = origin_of(cost)
        return "asserted" if origin is not None and origin.method == USER_ASSERTED else "no time of its own"
    if bound == "floor":
        return _floor(cost)
    if bound == "network":
        tier = carrying_tier(activity, system, estimate.inputs.network)
        where = tier.name if tier.name.startswith(_PLACES) else f"over {tier.name}"
        return f"{format_decimal(activity.message_bytes, 'B')} {where}, {format_count(activity.ranks)} ranks"
    steps = [name for name in _ONE_BY_ONE if name in cost.terms]
    if bound == "compute" and steps:
        longest = max(steps, key=lambda name: float(cost.terms[name]))
        how = _side_by_side(step, system) if longest == "waves" else ""
        return f"{format_seconds(cost.terms[longest])} of {how or _ONE_BY_ONE[longest]}"
    traffic = activity.read_bytes + activity.write_bytes
    reasons = {
        "compute": _work(activity.operations, cost.compute_seconds, "FLOP"),
        "memory": _work(traffic, cost.memory_seconds, "B") + _above_peak(estimate.inputs, activity, traffic, cost),
    }
    other = min(cost.compute_seconds, cost.memory_seconds)
    adds = adds_terms(cost, system) and other > _WORTH_SAYING * cost.seconds
    return f"{reasons.pop(bound)} + {reasons.popitem()[1]}" if adds else reasons[bound]


def _floor(cost: ComponentCost) -> str:
    """ "floor of 2.41 µs", "floor of 2.50 µs and quantising activations 22.9 µs"."""
    quantise = cost.terms.get("quantise")
    if quantise is None:
        return f"floor of {format_seconds(cost.floor_seconds)}"
    rest = format_seconds(cost.floor_seconds - quantise)
    return f"floor of {rest} and quantising activations {format_seconds(quantise)}"


def _side_by_side(step: Step, system: SystemProfile) -> str:
    """Of rows that each have a unit of their own; empty where there are more rows than that."""
    rows = step.costs.activity.statistics["tokens"]
    if rows > (system.compute_units or 1):
        return ""
    return f"{'a row' if rows == 1 else 'rows side by side'}, {ROW_LATENCY}"


def _above_peak(inputs: RequestInputs, activity: ComponentActivity, traffic: int, cost: ComponentCost) -> str:
    """What stands behind a rate above the memory's: the cache, or a fit whose memory is above it; empty for another."""
    of_peak = ratio(traffic, cost.memory_seconds * fitted_bytes_per_second(inputs.system)) or 0.0
    used = fit_of(inputs, activity, cost) if of_peak > 1 + _ROUNDING else None
    if used is None:
        return ""
    of_memory = used.fit.values.get("bandwidth_fraction", 1.0)
    return f", {FROM_CACHE}" if of_peak > of_memory + _ROUNDING else f", {of_peak:.2f} of the peak as fitted"


def _work(work: int, seconds: float, unit: str) -> str:
    rate = f"at {format_decimal(work / seconds, f'{unit}/s')}" if seconds else "at no cost"
    return f"{format_decimal(work, unit)} {rate}"
