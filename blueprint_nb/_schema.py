"""The base of every validated record: frozen, unknown fields forbidden, one clear error for the first fault.

Pydantic checks; this module turns what it found into the project's own error, with the dotted path of the field.
Integers are taken from anything with `__index__` (so NumPy's too) but never from a bool, a float or text.
"""

from __future__ import annotations

import math
import operator
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, ValidationError

from .errors import BlueprintError, InvalidInputError, UnsupportedError, shown

LARGEST_COUNT = 10**12


def _as_integer(value: object) -> int:
    if isinstance(value, bool):
        raise InvalidInputError("", rule=_COUNT_RULE, got=shown(value))
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidInputError("", rule=_COUNT_RULE, got=shown(value)) from None


def _as_number(value: object) -> float:
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise InvalidInputError("", rule="must be a number", got=shown(value))
    number = float(value)
    if not math.isfinite(number):
        raise InvalidInputError("", rule="must be a finite number", got=shown(value))
    return number


_COUNT_RULE = f"must be an integer from 1 to {LARGEST_COUNT:,}"

Count = Annotated[int, BeforeValidator(_as_integer), Field(ge=1, le=LARGEST_COUNT)]
"""An integer of at least 1."""

Index = Annotated[int, BeforeValidator(_as_integer), Field(ge=0, le=LARGEST_COUNT)]
"""An integer of at least 0."""

Number = Annotated[float, BeforeValidator(_as_number)]
"""A finite float."""


Flag = StrictBool
"""True or False, never 0, 1 or text."""


class Record(BaseModel):
    """A frozen, validated record. Raises `InvalidInputError` (or a subclass) with the path of the first fault."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    not_content: ClassVar[frozenset[str]] = frozenset()
    """Fields for the reader only: no digest covers them."""

    unsayable: ClassVar[dict[str, str]] = {}
    """Field names that users may expect but that the record can't say, with the reason."""

    def __init__(self, **values: Any) -> None:
        for name, reason in self.unsayable.items():
            if name in values:
                raise UnsupportedError(
                    name, got=shown(values[name]), rule=f"can't be said: {reason}", next_step="Leave this model out."
                )
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise _first_fault(error, type(self)) from None


def _first_fault(error: ValidationError, record: type[BaseModel]) -> BlueprintError:
    fault = error.errors(include_url=False)[0]
    path = ".".join(str(part) for part in fault["loc"])
    original = fault.get("ctx", {}).get("error")
    if isinstance(original, BlueprintError):
        return _placed(original, path)
    kind, got = fault["type"], shown(fault["input"])
    if kind == "missing":
        return InvalidInputError(path, rule="is required", got="nothing", next_step=f"Give {path}.")
    if kind == "extra_forbidden":
        known = ", ".join(sorted(record.model_fields))
        return InvalidInputError(path, rule="is not a known field", got=got, next_step=f"Known fields: {known}.")
    return InvalidInputError(path, rule=_rule(kind, fault.get("ctx", {}), fault["msg"]), got=got)


def _placed(error: BlueprintError, path: str) -> BlueprintError:
    repeats_last = error.field and path.rpartition(".")[2] == error.field
    field = path if repeats_last else ".".join(part for part in (path, error.field) if part)
    return type(error)(field, rule=error.rule, got=error.got, next_step=error.next_step)


def _rule(kind: str, context: dict[str, Any], message: str) -> str:
    if kind in {"greater_than_equal", "less_than_equal"} and isinstance(context.get("ge", context.get("le")), int):
        return _COUNT_RULE if context.get("ge", 1) == 1 else f"must be at least {context['ge']}"
    bounds = {"greater_than": "greater than", "greater_than_equal": "at least", "less_than_equal": "at most"}
    if kind in bounds:
        return f"must be {bounds[kind]} {next(iter(context.values())):g}"
    if kind == "literal_error":
        return f"must be {context['expected']}"
    return "must satisfy: " + message[0].lower() + message[1:]
