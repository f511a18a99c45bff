"""What every tab gives: a chart of one fixed size, and the table that says the same in numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import ipywidgets

from blueprint_nb import Estimate

CHART_HEIGHT = 285
DEFAULT_WIDTH = 860
"""Pixels for a whole chart with its axes and labels, until a browser says what there is."""

_LEAST_PLOT_WIDTH = 170


@dataclass(frozen=True, slots=True)
class Look:
    """How to look at an estimate."""

    pinned: Estimate | None = None
    phase: str = "decode"
    """Whose components are shown."""
    width: int = DEFAULT_WIDTH
    """Pixels that the chart may take, with all around its plot."""

    def plot_width(self, around: int) -> int:
        """Pixels for the plot where `around` go to axes and labels beside it."""
        return max(_LEAST_PLOT_WIDTH, self.width - around)


@dataclass(frozen=True, slots=True)
class Drawing:
    """One tab, drawn."""

    chart: Any
    """An Altair chart."""
    table: str
    """HTML."""


class Tab(ABC):
    """One view of an estimate; drawn only while it is in front."""

    title: str
    has_phases = False
    """Whether it shows either prefill or decode."""
    view: ipywidgets.Widget | None = None
    """What it draws on, where that is not the chart and the table which the tabs share."""

    @abstractmethod
    def draw(self, estimate: Estimate, look: Look) -> Drawing | None:
        """The chart and the table; None where it has drawn on its own view."""
