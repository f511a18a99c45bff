"""Exact quantities as integer forms, linear in a step's statistics.

A form evaluates on Python ints for one plan and on NumPy int64 arrays for a sweep, and gives the same integers.
Nothing exact passes through float64, and past 2^63 is an error, never a wrap.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from .._schema import Record
from ..errors import InvalidInputError
from ..units import INT64_LIMIT
from ..workload import STATISTICS


class LinearForm(Record):
    """constant + Σ coefficient · statistic, all integers."""

    constant: int = 0
    tokens: int = 0
    sequences: int = 0
    query_context: int = 0
    causal_query_context: int = 0
    context: int = 0
    allocated_context: int = 0

    @classmethod
    def of(cls, name: str) -> LinearForm:
        """The statistic itself."""
        return cls(**{name: 1})

    @cached_property
    def terms(self) -> tuple[tuple[str, int], ...]:
        """(statistic, coefficient), zeros left out; the constant is not among them."""
        return tuple((name, value) for name in STATISTICS if (value := getattr(self, name)))

    @property
    def is_zero(self) -> bool:
        """Whether the form is 0 at every step."""
        return not self.constant and not self.terms

    def __add__(self, other: LinearForm | int) -> LinearForm:
        right = other if isinstance(other, LinearForm) else LinearForm(constant=other)
        return LinearForm(**{name: getattr(self, name) + getattr(right, name) for name in type(self).model_fields})

    __radd__ = __add__

    def __neg__(self) -> LinearForm:
        return self * -1

    def __sub__(self, other: LinearForm | int) -> LinearForm:
        return self + (-other)

    def __rsub__(self, other: int) -> LinearForm:
        return -self + other

    def __mul__(self, factor: LinearForm | int) -> LinearForm:
        if isinstance(factor, LinearForm):
            if factor.terms:
                left, right = (factor, self) if not self.terms else (self, factor)
                if right.terms:
                    raise TypeError("a product of two statistics is not linear: name it as a statistic of its own")
                return left * right.constant
            factor = factor.constant
        return LinearForm(**{name: getattr(self, name) * factor for name in type(self).model_fields})

    __rmul__ = __mul__

    def at(self, statistics: Mapping[str, Any]) -> Any:
        """The quantity at a step, or at many: an int, or an int64 array of the statistics' broadcast shape.

        Arrays must have passed `check_int64` before.
        """
        total: Any = self.constant
        for name, coefficient in self.terms:
            total = total + coefficient * statistics[name]
        return total


def check_int64(form: LinearForm, largest: Mapping[str, int], what: str) -> int:
    """What no term of `form` passes where no statistic passes its `largest` (Python ints).

    Raises `InvalidInputError` if that may pass 2^63.
    """
    bound = abs(form.constant) + sum(abs(c) * largest[name] for name, c in form.terms)
    require_int64(bound, what)
    return bound


def require_int64(bound: int, what: str) -> None:
    """Raises `InvalidInputError` from 2^63 on."""
    if bound >= INT64_LIMIT:
        raise InvalidInputError(
            what,
            got=f"{bound:.3e}",
            rule="must stay below 2^63, so that every count is exact",
            next_step="Use a smaller batch, context or model.",
        )
