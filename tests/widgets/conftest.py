"""An explorer to move, and ways to read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ipywidgets
import pytest
from blueprint_nb_widgets import Explorer


@pytest.fixture
def explorer() -> Explorer:
    return Explorer()


@pytest.fixture(scope="session")
def texts_of():
    """All HTML that a widget and its children hold."""

    def walk(widget: Any) -> Iterator[str]:
        if isinstance(widget, ipywidgets.HTML):
            yield widget.value
        for child in getattr(widget, "children", ()):
            yield from walk(child)

    return lambda widget: list(walk(widget))
