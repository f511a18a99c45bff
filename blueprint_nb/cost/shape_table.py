"""Seconds by family, datatype and shape: looked up for all points of a block at once, never in between two shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .evaluation import distinct_shapes
from .kernels import DIMENSIONS, Kernel

ANY_DATATYPE: Final = ""
"""Of figures that hold for each of them."""

Shape = tuple[int, ...]
"""In the order of `DIMENSIONS`."""


@dataclass(frozen=True, eq=False)
class ShapeTable:
    """Places of entries, by (family, datatype) and shape."""

    _places: dict[tuple[str, str], dict[Shape, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[tuple[str, str, Shape]]) -> ShapeTable:
        """Entry (family, datatype, shape) to its position among `entries`, which differ."""
        table = cls()
        for place, (family, datatype, shape) in enumerate(entries):
            table._places.setdefault((family, datatype), {})[shape] = place
        return table

    @property
    def families(self) -> frozenset[str]:
        """Of all entries."""
        return frozenset(family for family, _ in self._places)

    def find(self, kernel: Kernel, datatype: str) -> Any | None:
        """The place of each point's shape, −1 where there is none: int64 of the points' shape; None where of no point.

        What holds for any datatype stands in where the datatype has no entry of its own.
        """
        tables = [self._places.get((kernel.family, name)) for name in (datatype, ANY_DATATYPE)]
        known = [table for table in tables if table]
        if not known:
            return None
        columns, restored = distinct_shapes(_dimensions(kernel))
        shapes = list(zip(*(columns[name].tolist() for name in DIMENSIONS[kernel.family]), strict=True))
        places = np.full(len(shapes), -1, dtype=np.int64)
        for table in reversed(known):
            found = np.fromiter((table.get(shape, -1) for shape in shapes), dtype=np.int64, count=len(shapes))
            places = np.where(found >= 0, found, places)
        return restored(places) if np.any(places >= 0) else None


def _dimensions(kernel: Kernel) -> Mapping[str, Any]:
    return {name: kernel.shape[name] for name in DIMENSIONS[kernel.family]}
