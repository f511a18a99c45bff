"""Fewer points where a chart, a download or a comparison has room for fewer: ends and what must stay are kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def kept_indices(count: int, most: int, always: Iterable[int] = (), *, logarithmic: bool = False) -> list[int]:
    """Indices of at most `most` of `count` points: both ends, `always` as far as there is room, evenly the rest.

    `logarithmic` spaces them evenly in the logarithm of their place.
    """
    if count <= most:
        return list(range(count))
    needed = [*sorted({0, *always})[: most - 1], count - 1]
    return sorted({*needed, *_spread(count, most - len(set(needed)), logarithmic)})


def _spread(count: int, places: int, logarithmic: bool) -> Any:
    """Places between the ends, which are kept anyway."""
    spaced = np.geomspace(1, count, places + 2) - 1 if logarithmic else np.linspace(0, count - 1, places + 2)
    return spaced[1:-1].round().astype(int).tolist()
