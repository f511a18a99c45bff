"""Costs that were worked out before, by everything that decides them: a few of the latest, read-only.

A plan has the same kernel several times, a mapping table and a slider ask for the same ones again and again, and a form
takes far longer over one shape than a look-up does. Bounded in number and in bytes, so that a long session stays small;
a cost of very many points is not kept at all.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from threading import Lock
from typing import Any, Final

import numpy as np

from .block import ComponentCost, arrays_of

_MOST_POINTS: Final = 4096
"""Numbers in a shape that is still worth a look-up."""

_ENTRY_BYTES: Final = 4096
"""About what a key, a cost and its small arrays take beside their numbers."""


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
    def bytes(self) -> int:
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
        """Keeps `cost`, whose arrays nobody may write to from here on, and drops those not asked for longest."""
        arrays = arrays_of(cost)
        for values in arrays:
            values.setflags(write=False)
        size = _ENTRY_BYTES + sum(values.nbytes for values in arrays)
        with self._lock:
            self._drop(key)
            self._costs[key] = (cost, size)
            self._bytes += size
            while len(self._costs) > self._most_entries or self._bytes > self._most_bytes:
                self._drop(next(iter(self._costs)))

    def clear(self) -> None:
        """Forgets all."""
        with self._lock:
            self._costs.clear()
            self._bytes = 0

    def _drop(self, key: Hashable) -> None:
        _, size = self._costs.pop(key, (None, 0))
        self._bytes -= size


def shape_key(shape: Mapping[str, Any]) -> Hashable | None:
    """What tells shapes apart (ints or int64 arrays by dimension); None for those of too many points."""
    sizes = [size if isinstance(size, int) else np.asarray(size, dtype=np.int64) for size in shape.values()]
    if sum(size.size for size in sizes if not isinstance(size, int)) > _MOST_POINTS:
        return None
    return tuple(_number_key(size) for size in sizes)


def _number_key(size: Any) -> Hashable:
    if isinstance(size, int):
        return size
    return int(size) if size.ndim == 0 else (size.shape, size.tobytes())
