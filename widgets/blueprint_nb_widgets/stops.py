"""Sliders over listed values, for numbers that grow by factors or that only some values of are legal.

An ipywidgets slider breaks in the browser when it has a single stop, so a single value is listed twice and the slider
disabled.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import ipywidgets


def stops_slider(stops: Sequence[int], value: int, **traits: Any) -> Any:
    """A slider over rising `stops`, at `value`."""
    return ipywidgets.SelectionSlider(options=_labelled(stops), index=_index(stops, value), **traits)


def move_slider(slider: Any, stops: Sequence[int], value: int) -> None:
    """Gives the slider other stops if they differ, and puts it on the last one that isn't above `value`."""
    with slider.hold_sync():
        if slider.options != _labelled(stops):
            slider.options = _labelled(stops)
            slider.disabled = len(stops) == 1
        slider.index = _index(stops, value)


def _labelled(stops: Sequence[int]) -> tuple[tuple[str, int], ...]:
    listed = tuple((f"{stop:,}", stop) for stop in stops)
    return listed * 2 if len(listed) == 1 else listed


def _index(stops: Sequence[int], value: int) -> int:
    return max(0, bisect_right(stops, value) - 1)
