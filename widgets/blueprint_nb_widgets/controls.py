"""Three kinds of control: a name from a list, a legal rank, a number. Each has a line for what it can't be and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ipywidgets

from .markup import span
from .options import Choice, ladder
from .stops import move_slider, stops_slider

Moved = Callable[[str, Any], None]
"""Called with the field that the user moved, and its new value."""


class Control(ipywidgets.VBox):
    """One field: its widgets in a row, and a line below. Reports what the user does, not what `show` does."""

    def __init__(self, field: str, row: Sequence[Any], moved: Moved, kind: str) -> None:
        self.field = field
        self._moved = moved
        self._showing = False
        self.hint = ipywidgets.HTML()
        self.hint.add_class("bp-hint")
        box = ipywidgets.Box(tuple(row))
        box.add_class("bp-row")
        super().__init__((box, self.hint))
        self.add_class("bp-control")
        self.add_class(f"bp-{kind}")
        self.add_class(f"bp-of-{field}")

    def show_hint(self, note: str, reason: str) -> None:
        """What was changed for the user, then why other values aren't offered."""
        self.hint.value = (span("note", f"{note}. ") if note else "") + span("reason", reason)

    def report(self, change: Any) -> None:
        """Passes a user's change on."""
        if not self._showing:
            self._moved(self.field, change["new"])

    @contextmanager
    def showing(self) -> Iterator[None]:
        """While values are shown that the user didn't set."""
        self._showing = True
        try:
            yield
        finally:
            self._showing = False


class NameControl(Control):
    """A drop-down list of names."""

    def __init__(self, field: str, label: str, moved: Moved) -> None:
        self.dropdown = ipywidgets.Dropdown(description=label)
        super().__init__(field, (self.dropdown,), moved, "name")
        self.dropdown.observe(self.report, "value")

    def show(self, names: Sequence[str], name: str) -> None:
        """Offers `names`, with `name` chosen."""
        offered = tuple(names) if name in names else (*names, name)
        with self.showing(), self.dropdown.hold_sync():
            if self.dropdown.options != offered:
                self.dropdown.options = offered
            self.dropdown.value = name


class LegalControl(Control):
    """A slider over the legal values of TP or PP; the value stands beside it."""

    def __init__(self, field: str, label: str, meaning: str, moved: Moved) -> None:
        self.slider = stops_slider((1,), 1, description=label, tooltip=meaning, continuous_update=True)
        super().__init__(field, (self.slider,), moved, "legal")
        self.slider.observe(self.report, "value")

    def show(self, choice: Choice[int], value: int, note: str) -> None:
        """Offers the legal values, with `value` chosen."""
        with self.showing():
            move_slider(self.slider, choice.offered, value)
        self.show_hint(note, choice.reason)


class NumberControl(Control):
    """A slider that grows by factors, and a box for any number."""

    def __init__(self, field: str, label: str, meaning: str, moved: Moved) -> None:
        self.label = label
        self.slider = stops_slider((1,), 1, readout=False, tooltip=meaning, continuous_update=True)
        self.box = ipywidgets.IntText(description=label, tooltip=meaning, continuous_update=False)
        super().__init__(field, (self.box, self.slider), moved, "number")
        for part in (self.slider, self.box):
            part.observe(self.report, "value")

    def show(self, most: int, value: int) -> None:
        """Stops up to `most`; the box at `value`, the slider at the stop below it."""
        with self.showing():
            move_slider(self.slider, ladder(most), value)
            self.box.value = value
