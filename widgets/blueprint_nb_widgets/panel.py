"""The panel of controls: one for each field of the state, in the order of reading."""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets

from .controls import LegalControl, Moved, NameControl, NumberControl
from .options import MOST_SEQUENCES
from .settle import Settled


class Panel(ipywidgets.VBox):
    """Reports what the user moves, and shows what a settled state says."""

    def __init__(self, moved: Moved, models: Sequence[str], systems: Sequence[str]) -> None:
        self._models, self._systems = tuple(models), tuple(systems)
        self.model = NameControl("model", "Model", moved)
        self.system = NameControl("system", "System", moved)
        self.tensor_parallel = LegalControl(
            "tensor_parallel", "TP", "tensor parallel: ranks that share each block", moved
        )
        self.pipeline_parallel = LegalControl("pipeline_parallel", "PP", "pipeline parallel: stages of blocks", moved)
        self.batch_size = NumberControl("batch_size", "Batch", "sequences that run together", moved)
        self.prompt_tokens = NumberControl("prompt_tokens", "Prompt", "tokens of each prompt", moved)
        self.generated_tokens = NumberControl("generated_tokens", "Generated", "tokens made for each sequence", moved)
        self.datatype = NameControl("datatype", "Datatype", moved)
        self.mode = NameControl("mode", "Cost mode", moved)
        self.calibration = NameControl("calibration", "Calibration", moved)
        super().__init__(
            (
                self.model,
                self.system,
                self.tensor_parallel,
                self.pipeline_parallel,
                self.batch_size,
                self.prompt_tokens,
                self.generated_tokens,
                self.datatype,
                self.mode,
                self.calibration,
            )
        )
        self.add_class("bp-controls")

    def show(self, settled: Settled) -> None:
        """Every control at its value, offering what can be chosen."""
        state, notes = settled.state, settled.notes
        self.model.show(self._models, state.model.name)
        self.system.show(self._systems, state.system.name)
        self._show_mapping(settled)
        self._show_request(settled)
        for field in ("datatype", "mode", "calibration"):
            choice, control = getattr(settled.options, field), getattr(self, field)
            control.show(choice.offered, getattr(state, field) or choice.default)
            control.show_hint(notes.get(field, ""), choice.reason)
        self.calibration.layout.visibility = "visible" if state.calibration else "hidden"

    def _show_mapping(self, settled: Settled) -> None:
        for field in ("tensor_parallel", "pipeline_parallel"):
            choice = getattr(settled.options, field)
            value, note = getattr(settled.state, field), settled.notes.get(field, "")
            getattr(self, field).show(choice, value, note)

    def _show_request(self, settled: Settled) -> None:
        """One line below the three numbers has all that is to say about them, so that none of them moves."""
        most, state = settled.options.most_context_tokens, settled.state
        controls = (self.batch_size, self.prompt_tokens, self.generated_tokens)
        for control, limit in zip(controls, (MOST_SEQUENCES, most, most), strict=True):
            control.show(limit, getattr(state, control.field))
        said = [f"{c.label} {settled.notes[c.field]}" for c in controls if c.field in settled.notes]
        rule = f"prompt + generated − 1 ≤ {most:,}, the sequence length"
        self.generated_tokens.show_hint("; ".join(said), "" if said else rule)
