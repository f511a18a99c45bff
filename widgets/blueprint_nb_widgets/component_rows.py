"""Tables of components: all of a step, or the few that take most of it."""

from __future__ import annotations

from blueprint_nb import Estimate
from blueprint_nb.analysis.step import step_of
from blueprint_nb.report.component_table import ComponentRow, component_table
from blueprint_nb.units import format_count, format_percent

from .markup import table

_HEADINGS = {
    "component": "component",
    "seconds": "seconds",
    "band": "90 % band",
    "share": "share",
    "executions": "times × each",
    "bound": "bound",
    "why": "why",
    "source": "source",
}
_WORDS = ("component", "bound", "why", "source")


def components_html(estimate: Estimate, phase: str, most: int | None = None) -> str:
    """The components of the prefill or of the last decode step in plan order; the `most` costly ones if given.

    A column that no row has anything to say in is left out; the pointer on a row gets its explanation.
    """
    rows = component_table(estimate, phase)
    kept = range(len(rows)) if most is None else _costliest(estimate, phase, most)
    caption = _caption(estimate, phase, len(kept), len(rows))
    return _rows_html(caption, [rows[index] for index in kept])


def _rows_html(caption: str, rows: list[ComponentRow]) -> str:
    names = [name for name in _HEADINGS if any(getattr(row, name) for row in rows)]
    return table(
        caption,
        [_HEADINGS[name] for name in names],
        [[getattr(row, name) for name in names] for row in rows],
        text_columns=[names.index(name) for name in _WORDS if name in names],
        column_names=names,
        row_notes=[row.explanation for row in rows],
        kind="components",
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
