"""What the explorer shows: a model, a system, and one value for each control. Knows no widget."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from blueprint_nb import Estimate, SystemProfile, TransformerModelSpec, estimate


@dataclass(frozen=True, slots=True)
class ExplorerState:
    """One point of the explorer. Its fields are the arguments of `blueprint_nb.estimate`."""

    model: TransformerModelSpec
    system: SystemProfile
    tensor_parallel: int
    pipeline_parallel: int
    batch_size: int
    prompt_tokens: int
    generated_tokens: int
    datatype: str
    mode: str | None
    """None is the system's default until the state is settled."""
    calibration: str | None = None
    """Of the mode `calibrated`; None is the system's default until the state is settled, and nothing in other modes."""

    def estimate(self) -> Estimate:
        """What the engine says about this point. Raises as `blueprint_nb.estimate`."""
        return estimate(**{field.name: getattr(self, field.name) for field in fields(self)})

    def with_value(self, field: str, value: Any) -> ExplorerState:
        """The same point but for one field."""
        return replace(self, **{field: value})
