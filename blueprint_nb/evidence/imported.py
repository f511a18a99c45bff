"""What an importer gives: the observations of a file, and how many of its times were left out, by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .observations import no_observations

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Imported", "merged"]


@dataclass(frozen=True, eq=False)
class Imported:
    """Observations of one file or several."""

    observations: pl.DataFrame
    """With the schema of `COLUMNS`, checked, in the order of the source."""
    skipped: Mapping[str, int]
    """Reason to times that were left out. A cell that the source leaves empty is no time."""


def merged(imports: Iterable[Imported]) -> Imported:
    """All of `imports` together, in their order. Rows keep their source keys."""
    import polars as pl

    parts = list(imports)
    skipped: Counter[str] = Counter()
    for part in parts:
        skipped.update(part.skipped)
    frames = [part.observations for part in parts]
    return Imported(pl.concat(frames) if frames else no_observations(), dict(skipped))
