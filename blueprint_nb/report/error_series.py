"""Many cases as lines: one for each mode and each other way in which cases differ, thinned to what a page can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..thinning import kept_indices
from ..units import format_count, format_seconds
from ..validation.comparison import CaseComparison, percent
from .context_axis import is_wide
from .error_marks import cut
from .error_points import Axis, ErrorPoint, cases_of, described, differing, points_of
from .theme import Table

Series = tuple[str, ...]
Lines = dict[tuple[str, Series], list[tuple[int, CaseComparison]]]
"""(mode, what else tells cases apart) to tokens and comparison, ascending."""

MOST_SERIES: Final = 12
"""Of a mode."""

LISTS: Final = ("context_tokens", "end", "estimate", "reference", "error", "low", "high")
"""Of a row of a line: one entry a point; the ends of a band only in a mode that has them."""

_MOST_DOTS: Final = 240
_FEWEST: Final = 3
_MOST_NAMED: Final = 8


def lines_of(found: Sequence[CaseComparison], axis: Axis) -> Lines:
    """The lines of a phase's comparisons."""
    names = differing(cases_of(found), axis)
    lines: Lines = {}
    for one in found:
        case = one.frozen.case
        told = described(case)
        lines.setdefault((one.mode, tuple(told[name] for name in names)), []).append((axis.tokens(case), one))
    return {key: sorted(line, key=lambda point: point[0]) for key, line in lines.items()}


def said_of_lines(lines: Lines) -> str:
    """Which lines a mode has; empty where it has one."""
    series = _series(lines)
    if len(series) == 1:
        return ""
    drawn = _drawn(lines)
    if len(series) > len(drawn):
        return f"{len(drawn)} of {format_count(len(series))} lines of a mode are drawn"
    named = "; ".join(", ".join(one) for one in series[:_MOST_NAMED])
    return f"a line for each of {named}" + (" …" if len(series) > _MOST_NAMED else "")


def line_rows(lines: Lines, most_points: int) -> Table:
    """A row for each line of each component, its points in lists: tokens, error and the figures behind it."""
    drawn = set(_drawn(lines))
    shown = {key: line for key, line in lines.items() if key[1] in drawn}
    panels = len({point.component for line in shown.values() for _, one in line for point in _compared(one)})
    most = max(_FEWEST, most_points // (panels * len(shown)))
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for (mode, series), line in shown.items():
        for tokens, one in _thinned(line, most):
            for point in _compared(one):
                key = (point.component, mode, ", ".join(series))
                _add(rows.setdefault(key, _row(*key)), tokens, point)
    few = sum(len(row["end"]) for row in rows.values()) <= _MOST_DOTS
    return [{**row, "has_dots": few or len(row["end"]) == 1} for row in rows.values()]


def _compared(one: CaseComparison) -> list[ErrorPoint]:
    return [point for point in points_of(one) if point.state == "matched" and point.error_percent is not None]


def _thinned(line: list[tuple[int, CaseComparison]], most: int) -> list[tuple[int, CaseComparison]]:
    """At most `most` points, evenly spread over the tokens as the axis shows them."""
    tokens = np.array([point[0] for point in line])
    first, last = int(tokens[0]), int(tokens[-1])
    if len(line) <= most or not is_wide(first, last):
        return [line[index] for index in kept_indices(len(line), most)]
    nearest = np.searchsorted(tokens, np.geomspace(first, last, most)).clip(0, len(line) - 1)
    return [line[index] for index in sorted({0, *nearest.tolist()})]


def _add(row: dict[str, Any], tokens: int, point: ErrorPoint) -> None:
    figures = {
        "context_tokens": tokens,
        "end": cut(point.error_percent or 0.0),
        "estimate": format_seconds(point.seconds),
        "reference": format_seconds(point.reference_seconds or 0.0),
        "error": point.error,
    }
    for name, figure in {**figures, **_ends(point)}.items():
        row[name].append(figure)


def _ends(point: ErrorPoint) -> dict[str, float]:
    if point.band is None or point.reference_seconds is None:
        return {}
    ends = {"low": point.band.low_seconds, "high": point.band.high_seconds}
    return {name: cut(percent(seconds, point.reference_seconds)) for name, seconds in ends.items()}


def _row(component: str, mode: str, series: str) -> dict[str, Any]:
    lists: dict[str, list[Any]] = {name: [] for name in LISTS}
    return {"component": component, "mode": mode, "series": series, **lists}


def _series(lines: Lines) -> list[Series]:
    return list(dict.fromkeys(series for _, series in lines))


def _drawn(lines: Lines) -> list[Series]:
    series = _series(lines)
    return [series[index] for index in kept_indices(len(series), MOST_SERIES)]
