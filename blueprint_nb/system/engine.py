"""A compute engine: what it peaks at in each datatype, and how near operations come."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from .._schema import Number, Record
from ..errors import InvalidInputError, UnsupportedError
from ..units import TERA
from .efficiency import ComputeStep, check_curve

Rate = Annotated[Number, Field(ge=1e-3, le=10**6)]


class ComputeEngine(Record):
    """Dense peaks (no sparsity). A datatype without a peak can't be run on it."""

    float32_tflop_per_s: Rate | None = None
    float16_tflop_per_s: Rate | None = None
    bfloat16_tflop_per_s: Rate | None = None
    float8_tflop_per_s: Rate | None = None
    efficiency: tuple[ComputeStep, ...] | None = None
    """Fraction of the peak by work of one operation; None where nobody measured it."""

    @model_validator(mode="after")
    def _is_usable(self) -> Self:
        if not any(getattr(self, name) for name in type(self).model_fields if name.endswith("_tflop_per_s")):
            rule = "must have the peak of at least one datatype"
            raise InvalidInputError("", rule=rule, got="none", next_step="Give float16_tflop_per_s.")
        if self.efficiency is not None:
            check_curve(self.efficiency)
        return self

    @property
    def datatypes(self) -> tuple[str, ...]:
        """Datatypes with a peak."""
        fields = (name for name in type(self).model_fields if name.endswith("_tflop_per_s"))
        return tuple(name.removesuffix("_tflop_per_s") for name in fields if getattr(self, name) is not None)

    def peak_flops(self, datatype: str) -> float:
        """Peak in operations a second. Raises `UnsupportedError` where the profile has none."""
        peak = getattr(self, f"{datatype}_tflop_per_s", None)
        if peak is None:
            raise UnsupportedError(
                f"{datatype}_tflop_per_s",
                rule=f"is not in this profile, so {datatype} can't be costed on it",
                next_step=f"It has {', '.join(self.datatypes)}.",
            )
        return float(peak * TERA)
