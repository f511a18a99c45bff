"""Seconds by component and term, in plan order.

Where a system adds compute and memory time, a bar stacks its terms. Where it takes the larger of the two, the bar is
the larger one and the hidden one runs inside it as a thin bar. In the mode `calibrated` the floor comes first, then the
longest other term. A bar's length is always the component's time.
"""

from __future__ import annotations

from typing import Final

import altair as alt

from ..analysis import Estimate
from ..analysis.bands import BAND_NAME
from ..analysis.composition import any_fitted
from ..analysis.step import Step, step_of
from ..thinning import kept_indices
from ..units import format_count, format_seconds, time_unit
from .component_bars import QUANTITIES, bar_rows, drawn_terms
from .component_names import component_name
from .step_rows import NO_DECODE
from .theme import INK, NO_TIME, TERM_COLOURS, data, finished, layered, message_chart
from .title_lines import title_lines

_ROW_HEIGHT: Final = 24
_LABEL_SPACE: Final = 1.45
_LABEL_WIDTH: Final = 125
"""Pixels of a label that stand right of the longest bar and left of the plot's end; some stand out of it."""
_SHORT_LABEL_WIDTH: Final = 75
_NARROW: Final = 300
"""Pixels of a plot in which a label leaves the share out, which the bar's length shows, and the legend has two rows."""
_NAME_WIDTH: Final = 150
_TICK_SPACE: Final = 50
_SLIDER_STEPS: Final = 10


def component_chart(estimate: Estimate, *, phase: str, width: int = 640) -> alt.Chart | alt.LayerChart:
    """The prefill, or the last decode step."""
    if phase == "decode" and not estimate.has_decode:
        return message_chart(NO_DECODE, width, 4 * _ROW_HEIGHT)
    step = step_of(estimate, phase)
    layers = _layers(estimate, [step], width)
    context = format_count(step.context_tokens)
    name = f"Prefill of {context} tokens" if phase == "prefill" else f"Decode step at context {context}"
    return finished(layers.properties(title=_title(f"{name}: {format_seconds(step.seconds)}", estimate, width)))


def component_slider_chart(estimate: Estimate, *, width: int = 640) -> alt.Chart | alt.LayerChart:
    """Decode steps at up to 10 contexts, one at a time: a slider in the page chooses. Opens on the last."""
    contexts = estimate.decode_contexts
    if len(contexts) < 2:
        return component_chart(estimate, phase="decode", width=width)
    steps = [step_of(estimate, "decode", int(contexts[index])) for index in kept_indices(len(contexts), _SLIDER_STEPS)]
    last = len(steps) - 1
    slider = alt.param(
        name="context_step", value=last, bind=alt.binding_range(min=0, max=last, step=1, name="Visible context ")
    )
    names = [f"Decode step at context {format_count(s.context_tokens)}: {format_seconds(s.seconds)}" for s in steps]
    layers = _layers(estimate, steps, width, only="datum.step == context_step")
    heading = _title(alt.ExprRef(f"{names!r}[context_step]"), estimate, width)
    return finished(layers.properties(title=heading).add_params(slider))


def _title(text: str | alt.ExprRef, estimate: Estimate, width: int) -> alt.TitleParams:
    """Begins above the names: the plot beside them can be too narrow for a title."""
    return alt.TitleParams(text, subtitle=title_lines(_reading(estimate), width + _NAME_WIDTH), frame="bounds")


def _reading(estimate: Estimate) -> list[str]:
    what = "time of all executions"
    if any_fitted(estimate.prefill.costs):
        return [what, "first the floor (launches and waits)", "then the longest term; others are thin"]
    if estimate.inputs.system.processing_mode == "no_overlap":
        return [what, "compute and memory time add up"]
    return [what, "compute and memory overlap: the longer counts, the shorter is the thin bar"]


def _layers(estimate: Estimate, steps: list[Step], width: int, only: str | None = None) -> alt.LayerChart:
    longest = max(cost.seconds * a.executions for step in steps for a, cost in step.costs.priced) or NO_TIME
    scale, unit = time_unit(longest)
    has_room = width >= _NARROW
    rows = [row for number, step in enumerate(steps) for row in bar_rows(estimate, step, number, scale, has_room)]
    base = alt.Chart(data(rows))
    base = base if only is None else base.transform_filter(only)
    order = [component_name(activity.component) for activity, _ in steps[0].costs.priced]
    y = alt.Y(
        "component:N",
        sort=order,
        title=None,
        axis=alt.Axis(minExtent=_NAME_WIDTH, labelLimit=_NAME_WIDTH, ticks=False, domain=False),
    )
    x_scale = alt.Scale(domain=[0, longest / scale * _label_space(width)], nice=False)
    axis = alt.Axis(title=f"time in the step ({unit})", tickCount=min(8, max(2, width // _TICK_SPACE)))
    columns = alt.Undefined if has_room else 2
    legend = alt.Legend(title=None, orient="top", direction="horizontal", symbolType="square", columns=columns)
    terms = drawn_terms(steps)
    layers = [_term_layer(base, term, terms, y, x_scale, axis, legend) for term in terms]
    labels = base.mark_text(align="left", dx=6, aria=False).encode(y=y, x=alt.X("end:Q", scale=x_scale), text="label:N")
    return layered(
        [*layers, labels, _answering_layer(base, terms, y, any(any_fitted(step.costs) for step in steps))],
        width=width,
        height=_ROW_HEIGHT * len(order),
    )


def _label_space(width: int) -> float:
    """How long the axis is, where the longest bar is 1."""
    label = _SHORT_LABEL_WIDTH if width < _NARROW else _LABEL_WIDTH
    return max(_LABEL_SPACE, width / max(1, width - label))


def _term_layer(
    base: alt.Chart, term: str, terms: list[str], y: alt.Y, scale: alt.Scale, axis: alt.Axis, legend: alt.Legend
) -> alt.Chart:
    chart: alt.Chart = (
        base.transform_filter(f"datum.{term}_to > datum.{term}_from")
        .transform_calculate(term=f"'{term}'")
        .mark_bar(stroke=INK, strokeWidth=0.5, aria=False)
        .encode(
            y=y,
            x=alt.X(f"{term}_from:Q", scale=scale, axis=axis),
            x2=f"{term}_to:Q",
            size=alt.Size(f"{term}_size:Q", scale=None),
            color=alt.Color(
                "term:N",
                scale=alt.Scale(domain=terms, range=[TERM_COLOURS[name] for name in terms]),
                legend=legend,
            ),
        )
    )
    return chart


def _answering_layer(base: alt.Chart, terms: list[str], y: alt.Y, is_explained: bool) -> alt.Chart:
    """The whole row of a component answers to the pointer, however short its bar; a screen reader hears it once."""
    band, explained = [], []
    if is_explained:
        band = [alt.Tooltip("band:N", title=BAND_NAME)]
        explained = [alt.Tooltip("how:N", title="each of them"), alt.Tooltip("source:N", title="source")]
    tooltip = [
        alt.Tooltip("component:N", title="component"),
        alt.Tooltip("seconds:N", title="all executions"),
        *band,
        alt.Tooltip("share:N", title="share of the step"),
        *(alt.Tooltip(f"{name}_seconds:N", title=f"{name} time") for name in terms),
        alt.Tooltip("why:N", title="bound by"),
        *explained,
        *(alt.Tooltip(f"{name}_formula:N", title=f"{name}, each") for name in QUANTITIES),
    ]
    row = base.mark_bar(size=_ROW_HEIGHT, opacity=0)
    chart: alt.Chart = row.encode(
        y=y, x=alt.value(0), x2=alt.value("width"), tooltip=tooltip, description=alt.Description("spoken:N")
    )
    return chart
