"""Tables of components: all of a step, or the few that take most of it."""

from __future__ import annotations

from dataclasses import astuple

from blueprint_nb import Estimate
from blueprint_nb.analysis.step import step_of
from blueprint_nb.report.component_table import component_table
from blueprint_nb.units import format_count, format_percent

from .markup import table

_HEADINGS = ("component", "seconds", "share", "times × each", "bound", "why")
_TEXT_COLUMNS = (0, 4, 5)


def components_html(estimate: Estimate, phase: str, most: int | None = None) -> str:
    """The components of the prefill or of the last decode step in plan order; the `most` costly ones if given."""
    rows = component_table(estimate, phase)
    kept = range(len(rows)) if most is None else _costliest(estimate, phase, most)
    cells = [astuple(rows[index]) for index in kept]
    return table(
        _caption(estimate, phase, len(kept), len(rows)), _HEADINGS, cells, text_columns=_TEXT_COLUMNS, kind="components"
    )


def _costliest(estimate: Estimate, phase: str, most: int) -> list[int]:
    seconds = _seconds(estimate, phase)
    return sorted(range(len(seconds)), key=lambda index: -seconds[index])[:most]


def _seconds(estimate: Estimate, phase: str) -> list[float]:
    return [float(cost.seconds) * activity.executions for activity, cost in step_of(estimate, phase).costs.priced]


def _caption(estimate: Estimate, phase: str, shown: int, count: int) -> str:
    request = estimate.inputs.request
    step = (
        f"Prefill of {format_count(request.prompt_tokens)} tokens"
        if phase == "prefill"
        else f"Decode step at context {format_count(request.last_context_tokens)}"
    )
    if shown == count:
        return f"{step}, all {count} components"
    seconds = sorted(_seconds(estimate, phase), reverse=True)
    share = format_percent(sum(seconds[:shown]) / sum(seconds))
    return f"{step}, the {shown} costliest of {count} components: {share} of the time"
