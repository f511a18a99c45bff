"""The base of every validated record: frozen, unknown fields forbidden, one clear error for the first fault.

Pydantic checks; this module turns what it found into the project's own error, with the dotted path of the
field. Integers are taken from anything with `__index__` (so NumPy's too), never from a bool, a float or text.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictBool, ValidationError

from .errors import BlueprintError, InvalidInputError, UnsupportedError, nearest, shown

LARGEST_COUNT = 10**12


def _integer_from(least: int) -> BeforeValidator:
    rule = f"must be an integer from {least} to {LARGEST_COUNT:,}"

    def check(value: object) -> int:
        if not _is_bool(value):
            try:
                number = operator.index(value)  # type: ignore[arg-type]
            except Exception:  # someone else's __index__ may raise anything
                number = None
            if number is not None and least <= number <= LARGEST_COUNT:
                return number
        raise InvalidInputError("", rule=rule, got=shown(value))

    return BeforeValidator(check)


def as_number(value: object) -> float:
    """`value` as a finite float. Raises `InvalidInputError`."""
    if _is_bool(value) or not hasattr(value, "__float__"):
        raise InvalidInputError("", rule="must be a number", got=shown(value))
    try:
        number = float(value)
    except Exception:  # someone else's __float__ may raise anything
        raise InvalidInputError("", rule="must be a number", got=shown(value)) from None
    if not math.isfinite(number):
        raise InvalidInputError("", rule="must be a finite number", got=shown(value))
    # No negative zero, which would be another digest for the same figure.
    return number + 0.0


def _as_text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInputError("", rule="must be text", got=shown(value))
    if not value.isprintable() and any(0xD800 <= ord(sign) < 0xE000 for sign in value):
        raise InvalidInputError("", rule="must be text that UTF-8 can hold", got=shown(value))
    return value


def _is_bool(value: object) -> bool:
    """Python's bool, or NumPy's, which also turns into a float."""
    return type(value).__name__ in ("bool", "bool_")


Count = Annotated[int, _integer_from(1)]
"""An integer from 1 to LARGEST_COUNT."""

Index = Annotated[int, _integer_from(0)]
"""An integer from 0 to LARGEST_COUNT."""

Number = Annotated[float, BeforeValidator(as_number)]
"""A finite float."""

Text = Annotated[str, BeforeValidator(_as_text)]
"""Text that can be written to a file."""

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
        except TypeError as error:
            # A table whose keys are no text never reaches validation.
            if "keywords must be strings" not in str(error):
                raise
            raise InvalidInputError("a table", rule="must have text as keys", got=shown(values)) from None

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some fields changed, unchecked; what the original had worked out is not taken over."""
        made = super().model_copy(update=update, deep=deep)
        for name in made.__dict__.keys() - type(self).model_fields.keys():
            del made.__dict__[name]
        return made


def _first_fault(error: ValidationError, record: type[BaseModel]) -> BlueprintError:
    faults = error.errors(include_url=False)
    # A misspelled field is also a missing one: what was written says more than what was not.
    fault = next((one for one in faults if one["type"] == "extra_forbidden"), faults[0])
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
    near = nearest(path.rpartition(".")[2], known)
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
