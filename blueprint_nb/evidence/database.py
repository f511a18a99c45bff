"""The performance database: observations in a folder, as immutable parts that only ever appear whole.

An import writes, for each source file, a Parquet file named by the SHA-256 of its bytes and then a manifest of its
own, named by the digest of its rows; each goes to a temporary name, is flushed to the disk and renamed. A part exists
once its manifest does. No file is shared by two imports and none is changed, so there is nothing to lock and nothing
to lose when several run at once; what a killed one leaves is a temporary file, or a Parquet file without a manifest,
and neither is read. A database object is what was there when it was opened, after every digest was found right; its
revision is the digest of its parts' digests, whatever order they came in. To take a part out, delete its manifest.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .._canonical import digest
from ..errors import InvalidInputError, OutputError, ProfileError, one_of, os_reason, shown
from .checks import checked
from .observations import no_observations, polars_schema
from .parts import (
    PartManifest,
    manifest_folder,
    parquet_folder,
    read_manifest,
    read_part,
    split_by_file,
    verified_content,
    write_part,
)
from .repeats import check_parts, refuse_repeats

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PerformanceDatabase"]

_NO_DATABASE: Final = (
    "Make one with PerformanceDatabase.create. Profiles of Vidur are no database: read them with "
    'VidurProfileImporter(source_revision="…").read_folder(folder).observations of blueprint_nb.evidence.vidur.'
)
"""What to do about a folder without one."""

_OF_PART: Final = ("source", "source_revision", "software", "software_version", "target", "file_sha256", "licence")


@dataclass(frozen=True, eq=False)
class PerformanceDatabase:
    """The parts that were in a folder when it was opened."""

    root: Path
    parts: tuple[PartManifest, ...]
    """Sorted by the digest of their rows."""

    def __init__(self, root: str | os.PathLike[str], *, _verified: Collection[PartManifest] = ()) -> None:
        """Opens the database at `root`.

        Raises `ProfileError` where there is none, and `IntegrityError` that names the file where a manifest or a part
        is not what was written, or two parts hold the same record.
        """
        folder = _folder(root)
        if not _is_folder(manifest_folder(folder)):
            raise ProfileError(str(folder), rule="holds no performance database", next_step=_NO_DATABASE)
        parts = tuple(read_manifest(path) for path in sorted(manifest_folder(folder).glob("*.json")))
        for part in set(parts).difference(_verified):
            verified_content(folder, part)
        check_parts(folder, parts)
        object.__setattr__(self, "root", folder)
        object.__setattr__(self, "parts", parts)

    @classmethod
    def create(cls, root: str | os.PathLike[str]) -> PerformanceDatabase:
        """The database at `root`, made where there is none. Raises `OutputError`, and as opening does."""
        folder = _folder(root)
        try:
            for made in (parquet_folder(folder), manifest_folder(folder)):
                made.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            rule = f"can't be made: {os_reason(error)}"
            raise OutputError(str(folder), rule=rule, next_step="Name another folder.") from None
        return cls(folder)

    @cached_property
    def revision(self) -> str:
        """Digest of the observations, whatever the order of their imports."""
        return digest([part.observations for part in self.parts])

    @cached_property
    def observations(self) -> pl.DataFrame:
        """All observations, with the schema of `COLUMNS`; part by part, each in the order of its source."""
        return self.where()

    def where(self, **wanted: object) -> pl.DataFrame:
        """The observations whose columns have the `wanted` values: one value each, or a collection of them.

        Reads only the parts that may have some. Raises `UnknownNameError` for what is no column, `InvalidInputError`
        for a value that its column can't hold, `IntegrityError` for a part that was changed since.
        """
        import polars as pl

        accepted = {name: _accepted(name, value) for name, value in wanted.items()}
        columns = [pl.col(name).is_in(values.implode(), nulls_equal=True) for name, values in accepted.items()]
        is_wanted = pl.all_horizontal(pl.lit(True), *columns)
        found = [no_observations()]
        for part in self.parts:
            if _may_hold(part, accepted):
                found.append(read_part(self.root, part).filter(is_wanted))
        return pl.concat(found)

    def add(self, observations: pl.DataFrame) -> PerformanceDatabase:
        """The database with `observations` in it too; what is in already changes nothing.

        Raises `InvalidInputError` for what is no observation table, and for a record that is there twice, or in
        another part with other values; `OutputError` where it can't be written.
        """
        new = split_by_file(checked(observations))
        now = PerformanceDatabase(self.root, _verified=self.parts)
        for part in new:
            refuse_repeats(self.root, now.parts, part)
        for part in new:
            write_part(self.root, part)
        return PerformanceDatabase(self.root, _verified=now.parts)


def _folder(root: object) -> Path:
    if not isinstance(root, (str, os.PathLike)) or not isinstance(os.fspath(root), str) or not os.fspath(root):
        raise InvalidInputError("root", got=shown(root), rule="must be the path of a folder")
    return Path(root)


def _is_folder(path: Path) -> bool:
    """A path that is too long to be one is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _accepted(name: str, value: object) -> pl.Series:
    """The values that a column may have, of its dtype."""
    import polars as pl

    schema = polars_schema()
    dtype = schema[one_of("column", name, schema)]
    values = list(value) if isinstance(value, Collection) and not isinstance(value, str) else [value]
    try:
        return pl.Series(name, values, dtype=dtype)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        raise InvalidInputError(name, got=shown(value), rule=f"must be {dtype}, or a collection of it") from None


def _may_hold(part: PartManifest, accepted: Mapping[str, pl.Series]) -> bool:
    if "family" in accepted and not set(part.families).intersection(accepted["family"]):
        return False
    return all(getattr(part, name) in accepted[name] for name in _OF_PART if name in accepted)
