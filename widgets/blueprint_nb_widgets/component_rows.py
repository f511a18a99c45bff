"""Tables of components: all of a step, or the few that take most of it."""

from __future__ import annotations

from blueprint_nb import Estimate
from blueprint_nb.analysis.rates import ratio, share_text
from blueprint_nb.analysis.step import Step, step_of
from blueprint_nb.cost import ComponentActivity, ComponentCost
from blueprint_nb.report.component_table import ComponentRow, component_row
from blueprint_nb.report.legend import legend
from blueprint_nb.units import format_count

from .markup import span, table

_HEADINGS = {
    "component": "component",
    "seconds": "time",
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

    A column that no row has anything to say in is left out; the pointer on a row gets its explanation,
    whose words are told below.
    """
    step = step_of(estimate, phase)
    priced = list(step.costs.priced)
    kept = priced if most is None else sorted(priced, key=_seconds, reverse=True)[:most]
    rows = [component_row(estimate, step, activity, cost) for activity, cost in kept]
    return _rows_html(_caption(step, len(kept), ratio(sum(map(_seconds, kept)), step.seconds)), rows)


def _rows_html(caption: str, rows: list[ComponentRow]) -> str:
    names = [name for name in _HEADINGS if any(getattr(row, name) for row in rows)]
    cells = table(
        caption,
        [_HEADINGS[name] for name in names],
        [[getattr(row, name) for name in names] for row in rows],
        text_columns=[names.index(name) for name in _WORDS if name in names],
        column_names=names,
        row_notes=[row.explanation for row in rows],
        kind="components",
    )
    words = "".join(span("word", f"{word}: {meaning}") for word, meaning in legend(rows))
    return f'{cells}<div class="bp-legend">{words}</div>' if words else cells


def _seconds(priced: tuple[ComponentActivity, ComponentCost]) -> float:
    activity, cost = priced
    return float(cost.seconds) * activity.executions


def _caption(step: Step, shown: int, share: float | None) -> str:
    context, count = format_count(step.context_tokens), len(step.costs.costs)
    name = f"Prefill of {context} tokens" if step.phase == "prefill" else f"Decode step at context {context}"
    if shown == count:
        return f"{name}, all {count} components"
    return f"{name}, the {shown} costliest of {count} components: {share_text(share)} of the time"
