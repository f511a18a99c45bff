"""The place of a chart, whose drawing is replaced in place.

A chart instance carries 0.9 MB of JavaScript, and the old drawing should stay until the new one is there: so one is
made, when there is something to show, and kept.
"""

from __future__ import annotations

from typing import Any, Final

import altair
import ipywidgets

_AROUND: Final = 120
"""Pixels of title, legend and axis, above and below a plot."""


class ChartBox(ipywidgets.Box):
    """Empty until the first chart; as high as the drawing, also while that is replaced, so that nothing below jumps."""

    children: tuple[Any, ...]

    def __init__(self) -> None:
        super().__init__()
        self.add_class("bp-chart")

    def show(self, chart: Any) -> None:
        """Draws an Altair chart; None takes the place away until the next."""
        self.layout.display = "none" if chart is None else None
        if chart is None:
            return
        plot_height = getattr(chart, "height", None)
        # Of panels and of steps Altair tells no height: the style sheet has one for their place.
        self.layout.min_height = f"{plot_height + _AROUND}px" if isinstance(plot_height, int) else None
        if self.children:
            self.children[0].chart = chart
        else:
            altair.JupyterChart.enable_offline()
            self.children = (altair.JupyterChart(chart),)
