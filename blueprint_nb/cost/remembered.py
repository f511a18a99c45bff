"""Costs that were worked out before, by everything that decides them: a few of the latest, read-only.

A plan has the same kernel several times, a mapping table and a slider ask for the same ones again and again, and a form
takes far longer over one shape than a look-up does. Bounded in number and in bytes, so that a long session stays small;
a cost of very many points is not kept at all, since it would push out all others.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from threading import Lock
from typing import Any, Final

import numpy as np

from .block import ComponentCost

_MOST_POINTS: Final = 4096
"""Numbers in a shape that is still worth a look-up."""

_ENTRY_BYTES: Final = 4096
"""About what a key, a cost and its arrays take beside their numbers."""

_MOST_OF_ALL: Final = 8
"""A cost that would take more than one part in so many of all bytes is not kept."""


class Remembered:
    """Keys to costs, those asked for last; safe to share between threads."""

    def __init__(self, most_entries: int = 4096, most_bytes: int = 32 * 2**20) -> None:
        self._most_entries = most_entries
        self._most_bytes = most_bytes
        self._costs: OrderedDict[Hashable, tuple[ComponentCost, int]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._costs)

    @property
    def held_bytes(self) -> int:
        """About what all entries take."""
        return self._bytes

    def get(self, key: Hashable) -> ComponentCost | None:
        """The cost kept for `key`."""
        with self._lock:
            found = self._costs.get(key)
            if found is None:
                return None
            self._costs.move_to_end(key)
            return found[0]

    def keep(self, key: Hashable, cost: ComponentCost) -> None:
        """Keeps `cost`, unless it is large, and drops those not asked for longest; its arrays become read-only."""
        arrays = cost.arrays
        for values in arrays:
            values.setflags(write=False)
        size = _ENTRY_BYTES + sum(values.nbytes for values in arrays)
        if size * _MOST_OF_ALL > self._most_bytes:
            return
        with self._lock:
            self._drop(key)
            self._costs[key] = (cost, size)
            self._bytes += size
            while len(self._costs) > self._most_entries or self._bytes > self._most_bytes:
                self._drop(next(iter(self._costs)))

    def _drop(self, key: Hashable) -> None:
        _, size = self._costs.pop(key, (None, 0))
        self._bytes -= size


def shape_key(shape: Mapping[str, Any]) -> Hashable | None:
    """What tells shapes apart (ints or int64 arrays by dimension); None for those of too many points."""
    if sum(np.size(size) for size in shape.values()) > _MOST_POINTS:
        return None
    return tuple((name, _size_key(size)) for name, size in shape.items())


def _size_key(size: Any) -> Hashable:
    if np.ndim(size) == 0:
        return int(size)
    column = np.asarray(size, dtype=np.int64)
    return column.shape, column.tobytes()
