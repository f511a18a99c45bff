"""The base of every validated record: frozen, unknown fields forbidden, one clear error for the first fault.

Pydantic checks; this module turns what it found into the project's own error, with the dotted path of the
field. Integers are taken from anything with `__index__` (so NumPy's too), never from a bool, a float or text.
"""

from __future__ import annotations

import difflib
import math
import operator
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, ValidationError

from .errors import BlueprintError, InvalidInputError, UnsupportedError, shown

LARGEST_COUNT = 10**12


def _integer_from(least: int) -> BeforeValidator:
    rule = f"must be an integer from {least} to {LARGEST_COUNT:,}"

    def check(value: object) -> int:
        if not _is_bool(value):
            try:
                number = operator.index(value)  # type: ignore[arg-type]
            except TypeError:
                pass
            else:
                if least <= number <= LARGEST_COUNT:
                    return number
        raise InvalidInputError("", rule=rule, got=shown(value))

    return BeforeValidator(check)


def _as_number(value: object) -> float:
    if _is_bool(value) or not hasattr(value, "__float__"):
        raise InvalidInputError("", rule="must be a number", got=shown(value))
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError):
        raise InvalidInputError("", rule="must be a number", got=shown(value)) from None
    if not math.isfinite(number):
        raise InvalidInputError("", rule="must be a finite number", got=shown(value))
    return number


def _is_bool(value: object) -> bool:
    """Python's bool, or NumPy's, which also turns into a float."""
    return type(value).__name__ in ("bool", "bool_")


Count = Annotated[int, _integer_from(1), Field(ge=1, le=LARGEST_COUNT)]
"""An integer of at least 1."""

Index = Annotated[int, _integer_from(0), Field(ge=0, le=LARGEST_COUNT)]
"""An integer of at least 0."""

Number = Annotated[float, BeforeValidator(_as_number)]
"""A finite float."""


Flag = StrictBool
"""True or False, never 0, 1 or text."""


class Record(BaseModel):
    """A frozen, validated record. Raises `InvalidInputError` (or a subclass) with the first fault's path."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    not_content: ClassVar[frozenset[str]] = frozenset()
    """Fields for the reader only: no digest covers them."""

    unsayable: ClassVar[dict[str, str]] = {}
    """Field names that users may expect but that the record can't say, with the reason."""

    def __init__(self, /, **values: Any) -> None:
        for name, reason in self.unsayable.items():
            if name in values:
                raise UnsupportedError(
                    name,
                    got=shown(values[name]),
                    rule=f"can't be said: {reason}",
                    next_step="Leave this model out.",
                )
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise _first_fault(error, type(self)) from None


def _first_fault(error: ValidationError, record: type[BaseModel]) -> BlueprintError:
    fault = error.errors(include_url=False)[0]
    path = ".".join(str(part) for part in fault["loc"] if part != "[key]")
    original = fault.get("ctx", {}).get("error")
    if isinstance(original, BlueprintError):
        return _placed(original, path)
    kind, got = fault["type"], shown(fault["input"])
    if kind == "missing":
        return InvalidInputError(path, rule="is required", got="nothing", next_step=f"Give {path}.")
    if kind == "extra_forbidden":
        return InvalidInputError(path, rule="is not a known field", got=got, next_step=_fields_near(path, record))
    return InvalidInputError(path, rule=_rule(kind, fault.get("ctx", {}), fault["msg"]), got=got)


def _placed(error: BlueprintError, path: str) -> BlueprintError:
    repeats_last = error.field and path.rpartition(".")[2] == error.field
    field = path if repeats_last else ".".join(part for part in (path, error.field) if part)
    return type(error)(field, rule=error.rule, got=error.got, next_step=error.next_step)


def _fields_near(path: str, record: type[BaseModel]) -> str:
    known = sorted(record.model_fields)
    near = difflib.get_close_matches(path.rpartition(".")[2], known, n=1)
    guess = f"Did you mean {near[0]}? " if near else ""
    return f"{guess}Known fields: {', '.join(known)}."


_BOUNDS = {"greater_than": "greater than", "greater_than_equal": "at least", "less_than_equal": "at most"}
_KINDS = {
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "tuple_type": "must be a list",
    "frozen_set_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
}


def _rule(kind: str, context: dict[str, Any], message: str) -> str:
    if kind in _BOUNDS:
        return f"must be {_BOUNDS[kind]} {next(iter(context.values())):,.12g}"
    if kind == "literal_error":
        return f"must be {context['expected']}"
    return _KINDS.get(kind) or "must satisfy: " + message[0].lower() + message[1:]
