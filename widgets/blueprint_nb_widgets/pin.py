"""A pinned estimate: a ghost in the latency chart, and a line that compares it with the current one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from blueprint_nb import Estimate
from blueprint_nb.analysis import RequestInputs
from blueprint_nb.units import format_percent, format_seconds, three_digits

from .markup import span
from .pinned import Pinned

_MANY_TIMES = 2


class Pin(ipywidgets.ToggleButton):
    """Down while something is pinned."""

    def __init__(self, current: Callable[[], Estimate], changed: Callable[[], None]) -> None:
        super().__init__(description="Pin", tooltip="keep this result as a dashed line to compare with")
        self._current = current
        self._changed = changed
        self._pinned: Pinned | None = None
        self.line = ipywidgets.HTML()
        self.line.add_class("bp-pin-line")
        self.observe(self._toggle, "value")

    def beside(self, now: Estimate) -> Estimate | None:
        """What is pinned, priced so that it may stand beside `now`; None while nothing is, or where it can't."""
        return None if self._pinned is None else self._pinned.beside(now)

    def compare(self, now: Estimate) -> None:
        """Says what is pinned, and how `now` differs from it."""
        if self._pinned is None:
            self.line.value = ""
            return
        kept, shown = self._pinned.estimate.inputs, self._pinned.beside(now)
        self.line.value = _apart(kept, now.inputs) if shown is None else _comparison(kept, shown, now)

    def _toggle(self, change: Any) -> None:
        self._pinned = Pinned(self._current()) if change["new"] else None
        self.description = "Unpin" if change["new"] else "Pin"
        self._changed()


def _comparison(kept: RequestInputs, pinned: Estimate, now: Estimate) -> str:
    what, before, after = _figures(pinned, now)
    again = "" if pinned.inputs == kept else f", as this is, not by {kept.calibration or kept.mode}"
    return span("pinned", f"Pinned: {_label(pinned.inputs)}{again}: {what} {format_seconds(before)}.") + span(
        "now", f"Now {format_seconds(after)}, {_change(after / before)}."
    )


def _apart(kept: RequestInputs, now: RequestInputs) -> str:
    return span("pinned", f"Pinned: {_label(kept)}.") + span(
        "now", f"Not compared, since this is {_pricing(now)}: choose the same for both to compare."
    )


def _pricing(inputs: RequestInputs) -> str:
    return f"calibrated by {inputs.calibration}" if inputs.calibration else inputs.mode


def _change(ratio: float) -> str:
    if ratio >= _MANY_TIMES:
        return f"{three_digits(ratio)} times as long"
    if ratio <= 1 / _MANY_TIMES:
        return f"{three_digits(1 / ratio)} times as fast"
    return f"{format_percent(abs(ratio - 1))} {'less' if ratio < 1 else 'more'}" if ratio != 1 else "the same"


def _figures(pinned: Estimate, now: Estimate) -> tuple[str, float, float]:
    """The last decode step where both have one, else the prefill."""
    if pinned.has_decode and now.has_decode:
        return "last decode step", float(pinned.decode_seconds[-1]), float(now.decode_seconds[-1])
    return "prefill", pinned.prefill_seconds, now.prefill_seconds


def _label(inputs: RequestInputs) -> str:
    mapping, request = inputs.mapping, inputs.request
    return (
        f"{inputs.model.name} on {inputs.system.name}, TP {mapping.tensor_parallel} × PP {mapping.pipeline_parallel}, "
        f"batch {request.batch_size:,}, {request.prompt_tokens:,} + {request.generated_tokens:,} tokens, "
        f"{request.datatype}, {_pricing(inputs)}"
    )
