"""Words of an explanation that a reader may not know, told once below the table that has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .component_table import FROM_CACHE, LOOK_UPS, ROW_LATENCY, ROWS_IN_TURN, ComponentRow

_OF_ROWS: Final = (ROW_LATENCY, ROWS_IN_TURN, LOOK_UPS)

_WORDS: Final = (
    ("CTA", "CTA", "a block of threads on one SM, with one tile of the result to do"),
    ("wave", "wave", "as many CTAs or rows as the device runs at once; the last one is seldom full"),
    ("floor", "floor", "what a kernel takes whatever its work is: launch, waits and, of messages, the link's latency"),
    (FROM_CACHE, "L2", "the cache before the memory; what it holds moves faster than the memory's bandwidth"),
    *((sign, "compute of rows", "mostly latency: a unit waits more than it calculates") for sign in _OF_ROWS),
)
"""What is looked for, the word, its meaning."""


def legend(rows: Iterable[ComponentRow]) -> list[tuple[str, str]]:
    """(word, meaning) of those that the rows use; none in the analytical modes, which explain nothing."""
    texts = [f"{row.why} {row.explanation}" for row in rows if row.explanation]
    return list(dict.fromkeys((word, meaning) for sign, word, meaning in _WORDS if any(sign in one for one in texts)))
