"""The axis of visible context: logarithmic when it spans more than a factor of four."""

from __future__ import annotations

import math
from typing import Any, Final

import altair as alt

_WIDEST_LINEAR: Final = 4
_EARLY: Final = 0.2
_MOST_TICKS: Final = 8
_EVERY_SECOND: Final[dict[str, Any]] = {"labelOverlap": "parity", "labelSeparation": 4}
"""Labels that have no room leave in even steps."""

TITLE: Final = "visible context (tokens)"


def is_wide(first: int, last: int) -> bool:
    """Whether contexts from `first` to `last` read better on a logarithmic axis."""
    return last > _WIDEST_LINEAR * first


def is_early(context: int, first: int, last: int) -> bool:
    """Whether `context` stands in the first fifth of the axis, where words left of it would leave the chart."""
    if is_wide(first, last):
        return math.log(context / first) < _EARLY * math.log(last / first)
    return context - first < _EARLY * (last - first)


def context_axis(first: int, last: int, *, label: str = TITLE, most_ticks: int = 24) -> alt.X:
    """x by `context_tokens`, whole tokens at its ticks."""
    if is_wide(first, last):
        powers = _powers_of_two(first, last)
        scale = alt.Scale(type="log", base=2, domain=[first, last], nice=False)
        axis = alt.Axis(values=powers[:: -(-len(powers) // most_ticks)], format=",d", title=label, **_EVERY_SECOND)
    else:
        margin = 1 if first == last else 0
        scale = alt.Scale(domain=[first - margin, last + margin], nice=False, zero=False)
        most = min(_MOST_TICKS, most_ticks)
        # Vega would put ticks between the tokens of a short axis.
        values = [*range(first, last + 1)] if last - first < most else alt.Undefined
        axis = alt.Axis(values=values, tickCount=most, format=",d", title=label)
    return alt.X("context_tokens:Q", scale=scale, axis=axis)


def _powers_of_two(first: int, last: int) -> list[Any]:
    return [2**power for power in range((first - 1).bit_length(), last.bit_length())]
