"""Where a cost comes from: who said it, by what, and how well that matches what was asked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """Of one component's seconds at one point."""

    provider: str
    """Its name: `peak-only`, `calibrated:vidur`, `user-asserted:timings.csv`."""
    revision: str
    """Digest of what the provider went by: parameters, records or the system's figures."""
    method: str
    """peak-only, system-evidence, calibrated, learned-residual, exact-evidence or user-asserted."""
    match: str
    """How it meets the row: `exact shape`, `in range`, `outside range: m`, `borrowed from rms_norm`,
    `coverage 0.62, in range`."""
    records: tuple[str, ...] = ()
    """Ids of the measurements that it is; none for what was computed."""
    samples: int = 0
    """Measurements behind it: of this shape, or fitted to."""
    spread_seconds: float | None = None
    """Largest less smallest of them, where they are of this shape."""
