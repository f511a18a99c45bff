"""The axes of a sweep: one integer or many, checked before anything is computed."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from .._schema import LARGEST_COUNT
from ..errors import InvalidInputError, shown

MOST_POINTS = 10**7
"""More than a sweep can hold in memory."""

MOST_MAPPINGS = 10**4
"""Each takes about a millisecond to lower or to refuse."""

_RULE = f"must be an integer from 1 to {LARGEST_COUNT:,}, or a non-empty sequence of them"


def axis(field: str, values: object) -> Any:
    """`values` as an int64 array of shape (n,), n ≥ 1. Raises `InvalidInputError` with the first fault."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu":
        numbers = values
    else:
        numbers = np.array([_integer(field, item) for item in _items(field, values)], dtype=object)
    if not 0 < len(numbers) <= MOST_POINTS:
        raise InvalidInputError(field, got=shown(values), rule=_RULE)
    outside = (numbers < 1) | (numbers > LARGEST_COUNT)
    if outside.any():
        raise InvalidInputError(field, got=shown(int(numbers[outside][0])), rule=_RULE)
    return numbers.astype(np.int64)


def check_points(axes: Mapping[str, Any]) -> None:
    """Raises `InvalidInputError` where the full product of the axes has more points than memory could hold."""
    _check_product(axes, "points", MOST_POINTS)
    mapping = {name: values for name, values in axes.items() if name.endswith("_parallel")}
    _check_product(mapping, "mappings", MOST_MAPPINGS)


def _check_product(axes: Mapping[str, Any], what: str, most: int) -> None:
    size = math.prod(len(values) for values in axes.values())
    if size > most:
        raise InvalidInputError(
            " · ".join(axes),
            got=f"{size:,} {what}",
            rule=f"must have at most {most:,} {what}",
            next_step="Shorten an axis.",
        )


def _items(field: str, values: object) -> list[Any]:
    if isinstance(values, (str, bytes, bytearray, memoryview, Mapping, Set)) or (
        isinstance(values, np.ndarray) and values.ndim != 1
    ):
        raise InvalidInputError(field, got=shown(values), rule=_RULE)
    if not isinstance(values, Iterable):
        return [values]
    try:
        items = list(islice(values, MOST_POINTS + 1))
    except Exception as error:  # someone else's iterator may raise anything
        raise InvalidInputError(field, got=shown(values), rule=f"can't be read: {shown(error)}") from None
    if len(items) > MOST_POINTS:
        raise InvalidInputError(field, got=shown(values), rule=f"must have at most {MOST_POINTS:,} values")
    return items


def _integer(field: str, item: object) -> int:
    if not isinstance(item, (bool, np.bool_)):
        with suppress(Exception):  # someone else's __index__ may raise anything
            return operator.index(item)  # type: ignore[arg-type]
    raise InvalidInputError(field, got=shown(item), rule=_RULE)
