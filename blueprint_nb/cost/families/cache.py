"""What the last cache serves of a kernel's bytes, and how slow they are with it.

    h        = 1 / (1 + (bytes / (share · L2))^steepness),  the fraction that the cache serves
    slowness = (1 − h) + h / gain,  of the bytes' time where the memory serves them all

The gain is at least 1 and h falls as the bytes grow, so more bytes never take less time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def served(cache_fills: Any, values: Mapping[str, float], steepness: float) -> Any:
    """h of bytes that would fill the cache `cache_fills` times, of any shape."""
    return 1.0 / (1.0 + (cache_fills / values["l2_share"]) ** steepness)


def slowness(fraction_served: Any, values: Mapping[str, float]) -> Any:
    """Seconds for each second that the bytes would take through the memory."""
    return 1.0 - fraction_served + fraction_served / values["l2_gain"]
