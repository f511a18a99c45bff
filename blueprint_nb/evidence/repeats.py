"""A measurement counts once: no record of a source may stand in a database twice, be it alike or otherwise.

Parts of one file may hold different rows of it. They may not hold the same row, as they would after an importer has
come to read it otherwise: one of the two has to go, and a person says which.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..errors import IntegrityError, InvalidInputError
from .parts import NewPart, PartManifest, manifest_path, read_part

if TYPE_CHECKING:
    import polars as pl

__all__ = ["check_parts", "refuse_repeats"]

_RECORD: Final = ["record", "component"]


def refuse_repeats(root: Path, parts: Iterable[PartManifest], new: NewPart) -> None:
    """Raises `InvalidInputError` where `new` holds a record twice, or one that another of the `parts` has."""
    records = new.frame.select(_RECORD)
    if len(twice := records.filter(records.is_duplicated())):
        raise InvalidInputError(
            "observations",
            got=f"{_first(twice)} twice",
            rule="must hold each record once",
            next_step="Import each file once.",
        )
    for part in parts:
        if (part.file_sha256, part.target) != new.file or part.observations == new.observations:
            continue
        if len(common := _common(records, root, part)):
            raise InvalidInputError(
                "observations",
                got=_first(common),
                rule="must hold no record that the database has with other values",
                next_step=f"To replace what it has, delete {manifest_path(root, part.observations)} first.",
            )


def check_parts(root: Path, parts: Iterable[PartManifest]) -> None:
    """Raises `IntegrityError` where two of the `parts` hold the same record."""
    by_file: defaultdict[tuple[str, str], list[PartManifest]] = defaultdict(list)
    for part in parts:
        by_file[part.file_sha256, part.target].append(part)
    for alike in by_file.values():
        for one, other in combinations(alike, 2):
            if len(common := _common(read_part(root, one).select(_RECORD), root, other)):
                raise IntegrityError(
                    str(manifest_path(root, one.observations)),
                    got=_first(common),
                    rule=f"must share no record with {other.observations}.json",
                    next_step="Delete one of the two.",
                )


def _common(records: pl.DataFrame, root: Path, part: PartManifest) -> pl.DataFrame:
    return records.join(read_part(root, part).select(_RECORD), on=_RECORD, how="semi")


def _first(records: pl.DataFrame) -> str:
    record, component = records.row(0)
    return f"{component} of {record}"
