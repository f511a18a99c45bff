"""A step's components as the rows that its bars are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..analysis import Estimate
from ..analysis.composition import adds_terms, any_fitted, is_fitted
from ..analysis.step import Step
from ..cost import HOST_OVERHEAD, ComponentActivity, ComponentCost
from ..ir import BoundPlan
from ..units import format_seconds
from .component_table import component_row
from .formulas import formula_lines
from .theme import TERM_COLOURS, Table

QUANTITIES: Final = ("operations", "read", "write", "message")
_BAR: Final = 14
_THIN_BAR: Final = 5


def drawn_terms(steps: Sequence[Step]) -> list[str]:
    """Terms that the bars of `steps` are made of, as they are drawn: a floor where there is one."""
    has_floor = any(cost.floor_seconds for step in steps for cost in step.costs.costs)
    return [term for term in TERM_COLOURS if term != "floor" or has_floor]


def bar_rows(estimate: Estimate, step: Step, number: int, scale: float, has_share: bool = True) -> Table:
    """A row for each component of `step`, the `number`th that is drawn, in units of `scale` seconds.

    Its label has the share where `has_share`.
    """
    portable = estimate.prefill_plan if step.phase == "prefill" else estimate.decode_plan(step.context_tokens)
    plan = estimate.bound_plan(portable)
    return [
        {
            "step": number,
            **_row(estimate, step, activity, cost, scale, has_share),
            **_formulas(plan, activity.component),
        }
        for activity, cost in step.costs.priced
    ]


def _row(
    estimate: Estimate, step: Step, activity: ComponentActivity, cost: ComponentCost, scale: float, has_share: bool
) -> dict[str, Any]:
    said = component_row(estimate, step, activity, cost)
    terms = {term: float(getattr(cost, f"{term}_seconds")) * activity.executions for term in TERM_COLOURS}
    return {
        "component": said.component,
        "seconds": f"{said.seconds} = {said.executions}",
        "share": said.share,
        **({"band": said.band, "source": said.source, "how": said.explanation} if any_fitted(step.costs) else {}),
        "end": _rounded(cost.seconds * activity.executions / scale),
        "label": " · ".join([said.seconds, *([said.share] if has_share else []), said.bound]),
        "spoken": f"{said.component}: {said.seconds}, {said.share} of the step, {said.bound}-bound",
        "why": said.why if said.bound == "floor" else f"{said.bound}: {said.why}",
        **{f"{term}_seconds": format_seconds(seconds) for term, seconds in terms.items()},
        **_bars(estimate, cost, terms, activity.executions, said.bound, scale),
    }


def _bars(
    estimate: Estimate, cost: ComponentCost, terms: dict[str, float], times: int, bound: str, scale: float
) -> dict[str, float]:
    if is_fitted(cost):
        return _fitted_extents(terms, cost.seconds * times, scale)
    return _extents(terms, bound, scale, is_stacked=adds_terms(cost, estimate.inputs.system))


def _fitted_extents(terms: dict[str, float], seconds: float, scale: float) -> dict[str, float]:
    """The floor, then the longest other term up to the end of the component's time; the shorter ones inside it."""
    floor = min(terms["floor"], seconds)
    longest = max((term for term in terms if term != "floor"), key=lambda term: terms[term])
    ends = {**{term: floor + own for term, own in terms.items()}, "floor": floor, longest: seconds}
    extents: dict[str, float] = {}
    for term in terms:
        extents[f"{term}_from"] = _rounded(0.0 if term == "floor" else floor / scale)
        extents[f"{term}_to"] = _rounded(min(ends[term], seconds) / scale)
        extents[f"{term}_size"] = _BAR if term in ("floor", longest) else _THIN_BAR
    return extents


def _extents(terms: dict[str, float], bound: str, scale: float, *, is_stacked: bool) -> dict[str, float]:
    """Where each term's bar starts and ends, and how thick it is."""
    extents: dict[str, float] = {}
    start = 0.0
    for term, seconds in terms.items():
        extents[f"{term}_from"] = _rounded(start / scale)
        extents[f"{term}_to"] = _rounded((start + seconds) / scale)
        extents[f"{term}_size"] = _BAR if is_stacked or term == bound else _THIN_BAR
        start += seconds if is_stacked else 0.0
    return extents


def _rounded(value: float) -> float:
    """More digits than a bar can show make a page longer."""
    return float(f"{value:.6g}")


def _formulas(plan: BoundPlan, component: str) -> dict[str, str]:
    """Of a task; none of the host's overhead, which no plan has."""
    lines: dict[str, str] = {}
    if component != HOST_OVERHEAD:
        task, work = plan.task(component)
        lines = formula_lines(task, work, plan.template.datatype, plan.statistics)
    return {f"{name}_formula": lines.get(name, "none") for name in QUANTITIES}
