"""Where fits of collectives begin: their parameters span factors of a thousand, their tables have sixty rows.

The lines of the four protocols start at fixed multiples of the shortest time that was seen and of the bandwidth that
the largest messages reach; the other starts stray from there by a fixed seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..cost.families import Collective, Family
from .fit import SEED
from .sample import Sample

_COUNT: Final = 10
_STRAY: Final = 0.4
"""Standard deviation of a start's logarithm."""

_LARGE: Final = 8.0
"""Messages of an eighth of the largest and more tell the bandwidth."""

_PROTOCOLS: Final = {
    "low_latency": (0.8, 0.15, 0.1),
    "low_latency_128": (1.2, 0.2, 0.35),
    "simple": (2.0, 0.3, 0.75),
    "wide": (5.0, 0.5, 1.05),
}
"""Protocol to its start, and that of each further rank, over the shortest time; and its bandwidth over that reached."""


def starts_of(family: Family, samples: Sequence[Sample]) -> list[Mapping[str, float]]:
    """Values to start from; one empty set, which stands for the parameters' own, but for collectives."""
    if not isinstance(family, Collective):
        return [{}]
    shortest = min(float(one.seconds.min()) for one in samples)
    reached = float(np.median([_reached(family, one) for one in samples]))
    generator = np.random.default_rng(SEED)
    return [_start(family, shortest, reached, generator, _STRAY if number else 0.0) for number in range(_COUNT)]


def _reached(family: Collective, sample: Sample) -> float:
    """Median fraction of the link's bandwidth that large messages reach."""
    form = sample.form or family
    size = sample.shape[family.size]
    large = sample.take(size > size.max() / _LARGE)
    wire = form.prepare(large.shape, large.machine).wire_seconds[:, 0]
    return float(np.median(wire / large.seconds))


def _start(family: Family, shortest: float, reached: float, generator: Any, stray: float) -> dict[str, float]:
    values = {}
    for protocol, (start, rank, fraction) in _PROTOCOLS.items():
        off = np.exp(generator.normal(0.0, stray, 3))
        values[f"{protocol}_seconds"] = shortest * start * off[0]
        values[f"{protocol}_rank_seconds"] = shortest * rank * off[1]
        values[f"{protocol}_bandwidth_fraction"] = reached * fraction * off[2]
    bounds = {one.name: (one.lowest, one.highest) for one in family.parameters}
    return {name: float(np.clip(value, *bounds[name])) for name, value in values.items()}
