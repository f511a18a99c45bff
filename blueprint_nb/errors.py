"""The errors a user can meet: each says what is wrong, what was got, the rule, and what to do next.

One base class, `BlueprintError`, so that a caller can catch everything of this project at once. Errors about
values also are `ValueError`s, because that is what Python programmers and pydantic expect of them. All can be
pickled.
"""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable

__all__ = [
    "BlueprintError",
    "IntegrityError",
    "InvalidInputError",
    "MissingExtraError",
    "OracleError",
    "OutputError",
    "ProfileError",
    "UnknownNameError",
    "UnsupportedError",
    "nearest",
    "one_of",
    "os_reason",
    "shown",
    "unknown_name",
]

_LONGEST_SHOWN = 120
_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxfrozenset = _SHORT.maxarray = 20
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 4 * _LONGEST_SHOWN


class BlueprintError(Exception):
    """Base of all errors of this project.

    `field` is the dotted path of what is wrong, `got` the value, `rule` what must hold, `next_step` what to
    do.
    """

    def __init__(self, field: str, *, rule: str, got: object = "", next_step: str = "") -> None:
        self.field = field
        self.got = got if isinstance(got, str) else shown(got)
        self.rule = rule
        self.next_step = next_step
        super().__init__(field)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.field, self.rule, self.got, self.next_step))

    def __str__(self) -> str:
        got = f" Got {self.got}." if self.got else ""
        next_step = f" {self.next_step}" if self.next_step else ""
        return f"{self.field} {self.rule}.{got}{next_step}"

    def under(self, path: str) -> BlueprintError:
        """The same error, with `path` put before its field."""
        field = f"{path}.{self.field}" if path else self.field
        return type(self)(field, rule=self.rule, got=self.got, next_step=self.next_step)


class InvalidInputError(BlueprintError, ValueError):
    """A value breaks a rule of its field."""


class UnsupportedError(InvalidInputError):
    """What is asked for is legal elsewhere, but this project or this profile can't say it."""


class UnknownNameError(InvalidInputError):
    """No model, system, mode or datatype has this name."""


class ProfileError(InvalidInputError):
    """A profile's file is missing, unreadable or half-written."""


class IntegrityError(BlueprintError, ValueError):
    """An IR is malformed, or does not match its digest."""


class OracleError(BlueprintError, RuntimeError):
    """A measured reference was asked for while an estimate was being made."""


class OutputError(BlueprintError, OSError):
    """A result can't be written to where it was asked for."""

    def __str__(self) -> str:
        return BlueprintError.__str__(self)


class MissingExtraError(BlueprintError, ImportError):
    """An optional part of the project is not installed."""

    def __str__(self) -> str:
        return BlueprintError.__str__(self)


def shown(value: object) -> str:
    """`value` as an error message shows it: its repr, cut when long or deep. Never raises."""
    try:
        text = _SHORT.repr(value).encode("utf-8", "backslashreplace").decode()
    except Exception:  # a repr of someone else's may raise anything
        text = f"a {type(value).__name__} that can't be shown"
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def one_of(field: str, value: object, known: Iterable[str]) -> str:
    """`value`, if it is one of the `known` names. Raises `UnknownNameError`."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        raise unknown_name(field, value, names)
    return value


def os_reason(error: Exception) -> str:
    """What the operating system said, as part of a sentence."""
    reason = getattr(error, "strerror", None) or str(error)
    return reason[:1].lower() + reason[1:]


def unknown_name(
    field: str, got: object, known: Iterable[str], *, listing: str = "", meant: str = ""
) -> UnknownNameError:
    """The error for a name that is not among `known`: names the one that is `meant`, else the nearest ones, else where
    all are listed.
    """
    names = sorted(known)
    if not names:
        return UnknownNameError(field, got=shown(got), rule="can't be chosen: there is nothing to choose from")
    near = [meant] if meant else nearest(got.lower(), names) if isinstance(got, str) else []
    if near:
        next_step = f"Did you mean {_either(near)}?"
    elif listing:
        next_step = f"See {listing}."
    else:
        next_step = ""
    rule = f"must be one of {len(names)} known names" if len(names) > 8 else f"must be {_either(names)}"
    return UnknownNameError(field, got=shown(got), rule=rule, next_step=next_step)


def nearest(got: str, names: list[str]) -> list[str]:
    """Up to three of `names` that `got` may mean: those that hold it, else those that look like it."""
    longer = sorted((name for name in names if len(got) > 1 and got in name.lower()), key=len)
    return longer[:3] or difflib.get_close_matches(got, names, n=3, cutoff=0.5)


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _rebuild(kind: type[BlueprintError], field: str, rule: str, got: str, next_step: str) -> BlueprintError:
    return kind(field, rule=rule, got=got, next_step=next_step)
