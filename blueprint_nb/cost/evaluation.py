"""Evaluating a cost form on the distinct shapes of many points, a cache's worth at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from .families import Family, KernelTime, Machine

_ROWS: Final = 2048
"""Shapes at a time: with their alternatives a form then stays in the processor's cache."""


def kernel_times(family: Family, shape: Mapping[str, Any], machine: Machine, values: Mapping[str, float]) -> KernelTime:
    """Times of all shapes: arrays of the shape that the dimensions broadcast to; `shape` gives ints or int64 arrays."""
    distinct, restored = distinct_shapes({name: shape[name] for name in family.dimensions})
    rows = len(next(iter(distinct.values())))
    if rows <= _ROWS:
        time = family.kernel_time(family.prepare(distinct, machine), values)
        return KernelTime(restored(time.seconds), {name: restored(term) for name, term in time.terms.items()})
    parts = []
    for first in range(0, rows, _ROWS):
        part = {name: column[first : first + _ROWS] for name, column in distinct.items()}
        parts.append(family.kernel_time(family.prepare(part, machine), values))
    terms = {name: restored(np.concatenate([part.terms[name] for part in parts])) for name in parts[0].terms}
    return KernelTime(restored(np.concatenate([part.seconds for part in parts])), terms)


def distinct_shapes(shape: Mapping[str, Any]) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """Each different shape once, as int64 columns of shape (rows,); and what brings a column of results to all points.

    Dimensions are ints or int64 arrays ≥ 0 that broadcast to one shape.
    """
    columns = {name: np.asarray(value, dtype=np.int64) for name, value in shape.items()}
    points = np.broadcast_shapes(*{column.shape for column in columns.values()})
    varying = [name for name, column in columns.items() if column.size > 1]
    if not varying:
        return {name: column.reshape(1) for name, column in columns.items()}, lambda result: result.reshape(points)
    flat = {name: np.broadcast_to(columns[name], points).reshape(-1) for name in varying}
    rows, restored = _distinct_rows(list(flat.values()), points)
    distinct = {name: flat[name][rows] for name in varying}
    count = len(distinct[varying[0]])
    alike = {name: np.broadcast_to(column.reshape(-1)[:1], count) for name, column in columns.items()}
    return {**alike, **distinct}, restored


def _distinct_rows(keys: list[Any], points: tuple[int, ...]) -> tuple[Any, Callable[[Any], Any]]:
    """Which rows to take, one of each combination of `keys` (arrays of shape (rows,)); and the way back to `points`."""
    combined = _one_key(keys)
    if (combined[1:] > combined[:-1]).all():
        return slice(None), lambda result: result.reshape(points)
    _, first, inverse = np.unique(combined, return_index=True, return_inverse=True)
    return first, lambda result: result[inverse].reshape(points)


def _one_key(keys: list[Any]) -> Any:
    """One int64 for each combination of `keys`, different for different ones."""
    combined = keys[0]
    for key in keys[1:]:
        # Ranks instead of values, so that no product passes 2^63.
        combined = np.unique(combined, return_inverse=True)[1] if combined.max() > 2**31 else combined
        key = np.unique(key, return_inverse=True)[1] if key.max() > 2**31 else key
        combined = combined * (int(key.max()) + 1) + key
    return combined
