"""What charts of a validation share: how each predictor looks, names of families, axes of tokens and of percent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from .theme import COMPUTE, GHOST, GHOST_DASH, INK, MEMORY, NETWORK, PART_COLOURS

__all__ = [
    "family_axis",
    "family_name",
    "panel_columns",
    "panel_header",
    "percent_axis",
    "predictor_colour",
    "predictor_dash",
    "predictor_shape",
    "tokens_axis",
    "tokens_title",
]

_STYLES: Final[dict[str, tuple[str, list[int], str]]] = {
    "calibrated": (COMPUTE, [1, 0], "circle"),
    "learned residual": (PART_COLOURS[0], [4, 1], "triangle-right"),
    "boosted trees": (NETWORK, [7, 2], "square"),
    "step curves": (MEMORY, [2, 2], "diamond"),
    "constant efficiency": (PART_COLOURS[1], [6, 2, 1, 2], "triangle-up"),
    "peak roofline": (GHOST, GHOST_DASH, "cross"),
}
"""Predictor to colour, dash and shape; colour never stands alone."""

_OTHER: Final = (GHOST, [1, 3], "triangle-down")

_NAMES: Final = {
    "gemm": "GEMM",
    "rms_norm": "RMSNorm",
    "layer_norm": "LayerNorm",
    "rope": "RoPE",
    "kv_save": "KV save",
    "all": "all components",
}

_PANEL_GAP: Final = 22
_NAME_WIDTH: Final = 190


def family_name(family: str) -> str:
    """As a reader says it: `gated_activation` is gated activation; what follows `@` is a network."""
    kind, _, tier = family.partition("@")
    name = _NAMES.get(kind, kind.replace("_", " "))
    return f"{name}, {tier}" if tier else name


def family_axis(order: Sequence[str], *, has_names: bool = True) -> alt.Y:
    """y by `family`, in their order."""
    extent = _NAME_WIDTH if has_names else 0
    axis = alt.Axis(
        labels=has_names,
        minExtent=extent,
        labelLimit=_NAME_WIDTH,
        ticks=False,
        domain=False,
        grid=False,
        labelPadding=8,
    )
    return alt.Y("family:N", sort=list(order), title=None, axis=axis)


def predictor_colour(predictors: Sequence[str]) -> alt.Color:
    """A colour for each, with a legend above the chart."""
    scale = alt.Scale(domain=list(predictors), range=[_STYLES.get(name, _OTHER)[0] for name in predictors])
    return alt.Color("predictor:N", scale=scale, legend=_legend(predictors))


def predictor_dash(predictors: Sequence[str]) -> alt.StrokeDash:
    """A dash for each."""
    scale = alt.Scale(domain=list(predictors), range=[_STYLES.get(name, _OTHER)[1] for name in predictors])
    return alt.StrokeDash("predictor:N", scale=scale, legend=None)


def predictor_shape(predictors: Sequence[str]) -> alt.Shape:
    """A shape for each; in the legend it stands beside its colour."""
    scale = alt.Scale(domain=list(predictors), range=[_STYLES.get(name, _OTHER)[2] for name in predictors])
    return alt.Shape("predictor:N", scale=scale, legend=_legend(predictors))


def _legend(predictors: Sequence[str]) -> alt.Legend:
    return alt.Legend(
        title=None,
        orient="top",
        direction="horizontal",
        columns=len(predictors),
        columnPadding=26,
        symbolSize=90,
        symbolStrokeWidth=2.2,
    )


def tokens_title(families: Sequence[str]) -> str:
    """What the tokens of an octave are."""
    return "context (tokens)" if list(families) == ["attention_decode"] else "tokens"


def tokens_axis(octaves: Sequence[int], title: str) -> alt.X:
    """x by `tokens`, the first size of an octave."""
    first, last = min(octaves), max(octaves)
    values: list[Any] = [2**octave for octave in range(first, last + 1, 2 if last - first > 5 else 1)]
    axis = alt.Axis(title=title, values=values, format="~s" if last > 13 else "d", labelOverlap="parity", grid=False)
    return alt.X("tokens:Q", scale=alt.Scale(type="log", base=2, nice=False), axis=axis)


def percent_axis(field: str, title: str) -> alt.Y:
    """y in percent, logarithmic: bars to beat are ten times further off than what beats them."""
    axis = alt.Axis(title=title, values=[1, 3, 10, 30, 100, 300], format="d")
    return alt.Y(f"{field}:Q", scale=alt.Scale(type="log", nice=False, clamp=True, domain=[1, 400]), axis=axis)


def panel_header() -> alt.Header:
    """Of the panels of a chart."""
    return alt.Header(title=None, labelFontSize=12, labelFontWeight=600, labelColor=INK, labelAnchor="start")


def panel_columns(panels: int, width: int, columns: int) -> tuple[int, int, int]:
    """(columns, width of a panel, gap) for so many panels in `width` pixels."""
    columns = max(1, min(panels, columns))
    return columns, (width - _PANEL_GAP * (columns - 1)) // columns, _PANEL_GAP
