"""The tables of `aiconfigurator-core` as observations, one a row; duplicate keys stay rows of their own.

A row's own `framework` and `version` say what ran, where it has them: some folders hold rows, or whole files, of
another version. Left out and counted: sliding windows, beam search, attention over a cache of another datatype,
collectives and datatypes that the project has no name for. Eager and graph launches, and other backends, are kept
apart by `kernel`. How many devices a machine has is not said.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...errors import InvalidInputError, ProfileError, one_of, os_reason, shown
from ..checks import checked
from ..imported import Imported, merged
from ..observations import observation_frame
from .rows import KINDS, reason_left_out, row_columns
from .tables import PACKAGE, MeasuredTable, given_folder, installed_folder, installed_revision, measured_tables

if TYPE_CHECKING:
    import polars as pl

__all__ = ["AiconfiguratorImporter"]

_LICENCE: Final = "Apache-2.0"


@dataclass(frozen=True, slots=True)
class AiconfiguratorImporter:
    """Reads the tables of one version of the package."""

    folder: Path
    source_revision: str
    """The package's version."""

    def __init__(self, folder: str | os.PathLike[str] | None = None, source_revision: str | None = None) -> None:
        """The installed package, or the tables in `folder`, which are of `source_revision`.

        Raises `MissingExtraError` where the package is not installed, `InvalidInputError` for what is no path.
        """
        if (folder is None) != (source_revision is None):
            raise InvalidInputError("source_revision", got=shown(source_revision), rule="must be given with folder")
        object.__setattr__(self, "folder", installed_folder() if folder is None else given_folder(folder))
        revision = installed_revision() if source_revision is None else source_revision
        object.__setattr__(self, "source_revision", revision)

    def tables(
        self, *, targets: str | Collection[str] | None = None, kinds: str | Collection[str] | None = None
    ) -> list[MeasuredTable]:
        """The tables there are, of these `targets` and `kinds` where given, sorted.

        Raises `ProfileError` where there are none at all, `UnknownNameError` for a target or kind that none is of.
        """
        found = measured_tables(self.folder)
        chosen_targets = _chosen("target", targets, {table.target for table in found})
        chosen_kinds = _chosen("kind", kinds, {table.kind for table in found})
        return [table for table in found if table.target in chosen_targets and table.kind in chosen_kinds]

    def read(self, table: MeasuredTable) -> Imported:
        """The observations of one table. Raises `ProfileError` for one that can't be read rightly."""
        import polars as pl

        content, frame = _read(table.path)
        _check_columns(table, frame)
        frame = frame.with_row_index("row").with_columns(reason_left_out(table.kind, frame).alias("reason"))
        left_out = frame["reason"].drop_nulls().value_counts(sort=True)
        kept = frame.filter(pl.col("reason").is_null())
        columns = row_columns(table.kind) | _software(table, frame)
        columns["record"] = pl.format("{}:{}", pl.lit(table.path.name), pl.col("row"))
        observations = observation_frame(
            kept.select(expression.alias(name) for name, expression in columns.items()).to_dict(),
            target=table.target,
            source=PACKAGE,
            source_revision=self.source_revision,
            file_sha256=hashlib.sha256(content).hexdigest(),
            licence=_LICENCE,
        )
        return Imported(checked(observations), dict(left_out.iter_rows()))

    def read_all(
        self, *, targets: str | Collection[str] | None = None, kinds: str | Collection[str] | None = None
    ) -> Imported:
        """The observations of all tables, of these `targets` and `kinds` where given.

        A file that is a copy of one read before, byte for byte and of the same target, is left out and counted: it
        holds no further measurements. Raises `ProfileError` for a table that can't be read rightly.
        """
        return merged(self._each(self.tables(targets=targets, kinds=kinds)))

    def _each(self, tables: list[MeasuredTable]) -> Iterator[Imported]:
        seen: set[tuple[str, str]] = set()
        for table in tables:
            read = self.read(table)
            frame = read.observations
            key = (table.target, frame["file_sha256"][0]) if len(frame) else None
            if key is not None and key in seen:
                yield Imported(frame.clear(), {"in a copy of a file read before": len(frame)})
                continue
            if key is not None:
                seen.add(key)
            yield read


def _chosen(field: str, names: str | Collection[str] | None, known: set[str]) -> set[str]:
    if names is None:
        return known
    return {one_of(field, name, sorted(known)) for name in ([names] if isinstance(names, str) else names)}


def _read(path: Path) -> tuple[bytes, pl.DataFrame]:
    import polars as pl

    try:
        content = path.read_bytes()
        return content, pl.read_parquet(io.BytesIO(content))
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = os_reason(error).splitlines()[0]
        next_step = f"Install {PACKAGE} anew."
        raise ProfileError(str(path), rule=f"can't be read as Parquet: {reason}", next_step=next_step) from None


def _check_columns(table: MeasuredTable, frame: pl.DataFrame) -> None:
    import polars as pl

    kind = KINDS[table.kind]
    wanted = {
        **dict.fromkeys(kind.counts, pl.Int64()),
        **dict.fromkeys(("op_name", "kernel_source", kind.datatype), pl.String()),
        "latency": pl.Float64(),
    }
    for name, dtype in wanted.items():
        got = frame.schema.get(name)
        if got != dtype:
            raise ProfileError(
                f"{table.path}, column {name}",
                rule=f"must be {dtype}",
                got="no such column" if got is None else str(got),
                next_step=f"Use a version of {PACKAGE} that this project can read.",
            )


def _software(table: MeasuredTable, frame: pl.DataFrame) -> dict[str, pl.Expr]:
    """What ran, and its version: as the row says, else as its folder does."""
    import polars as pl

    software, version = pl.lit(table.software), pl.lit(table.software_version)
    if "framework" in frame.columns and table.kind != "nccl":
        software = pl.col("framework").str.to_lowercase().fill_null(software)
    elif table.kind == "nccl":
        software = pl.lit(table.path.stem.removesuffix("_perf"))
    if "version" in frame.columns:
        version = pl.col("version").fill_null(version)
    return {"software": software, "software_version": version}
