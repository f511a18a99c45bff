"""The axes of a sweep: one integer or many, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._schema import LARGEST_COUNT
from ..errors import InvalidInputError, shown

_RULE = f"must be an integer from 1 to {LARGEST_COUNT:,}, or a non-empty sequence of them"


def axis(field: str, values: object) -> Any:
    """`values` as an int64 array of shape (n,), n ≥ 1. Raises `InvalidInputError` with the first fault."""
    given = _sequence(field, values)
    if len(given) == 0:
        raise InvalidInputError(field, got=shown(values), rule=_RULE)
    if isinstance(given, np.ndarray) and given.ndim == 1 and np.issubdtype(given.dtype, np.integer):
        numbers = given
    else:
        wrong = next(
            (item for item in given if isinstance(item, bool) or not isinstance(item, (int, np.integer))),
            None,
        )
        if wrong is not None:
            raise InvalidInputError(field, got=shown(wrong), rule=_RULE)
        numbers = np.array([int(item) for item in given], dtype=object)
    outside = (numbers < 1) | (numbers > LARGEST_COUNT)
    if outside.any():
        raise InvalidInputError(field, got=shown(int(numbers[outside][0])), rule=_RULE)
    return numbers.astype(np.int64)


def _sequence(field: str, values: object) -> Any:
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values
    if isinstance(values, (Sequence, range)) and not isinstance(values, (str, bytes)):
        return values
    if isinstance(values, (str, bytes, np.ndarray)) or hasattr(values, "__iter__"):
        if isinstance(values, (str, bytes, np.ndarray, dict, set)):
            raise InvalidInputError(field, got=shown(values), rule=_RULE)
        return list(values)
    return [values]
