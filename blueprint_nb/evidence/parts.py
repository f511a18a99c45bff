"""A part of a performance database: a Parquet file named by its bytes, and the manifest that makes it visible.

A manifest is named by the digest of the observations it stands for, holds the digest of its own content, and names
its Parquet file, which is on the disk before the manifest is. Both appear whole, by a rename; neither ever changes.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final, NamedTuple

from pydantic import StringConstraints

from .._canonical import Digested, digest
from .._canonical import content as json_content
from .._schema import Count, Text
from ..errors import BlueprintError, IntegrityError, UnsupportedError, os_reason
from ..files import whole_file
from .content import content_digest
from .observations import SOURCE_KEY

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "NewPart",
    "PartManifest",
    "manifest_folder",
    "manifest_path",
    "parquet_folder",
    "read_manifest",
    "read_part",
    "split_by_file",
    "verified_content",
    "write_part",
]

FORMAT: Final = 1
"""Of parts and manifests; a table with other columns is another format."""

_BY_FILE: Final = (*SOURCE_KEY, "target", "file_sha256", "licence")
_RESTORE: Final = "Restore the file, or delete the manifest and import its source again."

Sha256 = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class PartManifest(Digested):
    """What one part holds: observations of one file of one source, on one target."""

    format: Count
    observations: Sha256
    """Digest of the rows: the part's identity, and the manifest's file name."""
    parquet: Sha256
    """SHA-256 of the Parquet file's bytes, and its name."""
    rows: Count
    source: Text
    source_revision: Text
    software: Text
    software_version: Text
    target: Text
    file_sha256: Sha256
    licence: Text
    families: tuple[Text, ...]
    """Sorted."""


class NewPart(NamedTuple):
    """Rows that may become a part: those of one file of one source, on one target."""

    observations: str
    """Digest of the rows."""
    frame: pl.DataFrame

    @property
    def file(self) -> tuple[str, str]:
        """Digest of the file, and target."""
        return self.frame["file_sha256"][0], self.frame["target"][0]


def split_by_file(frame: pl.DataFrame) -> list[NewPart]:
    """The rows of each file, source key and target apart, in the order of `frame`.

    So a file is the same part however many are imported together, and importing it again changes nothing.
    """
    return [NewPart(content_digest(part), part) for part in frame.partition_by(_BY_FILE, maintain_order=True)]


def write_part(root: Path, new: NewPart) -> None:
    """Makes `new` a part of the database at `root`; nothing where it is one. Raises `OutputError`."""
    if manifest_path(root, new.observations).exists():
        return
    buffer = io.BytesIO()
    new.frame.write_parquet(buffer, compression="zstd")
    parquet = hashlib.sha256(buffer.getvalue()).hexdigest()
    values: dict[str, Any] = {name: new.frame[name][0] for name in _BY_FILE}
    manifest = PartManifest(
        format=FORMAT,
        observations=new.observations,
        parquet=parquet,
        rows=len(new.frame),
        families=tuple(sorted(new.frame["family"].unique())),
        **values,
    )
    with _lasting(_parquet_path(root, parquet)) as file:
        file.write(buffer.getvalue())
    text = json.dumps({"digest": manifest.digest, "manifest": json_content(manifest)}, indent=2, ensure_ascii=False)
    with _lasting(manifest_path(root, new.observations)) as file:
        file.write(f"{text}\n".encode())


def read_manifest(path: Path) -> PartManifest:
    """The manifest at `path`.

    Raises `IntegrityError` where it is not what was written, `UnsupportedError` for one of another format.
    """
    try:
        read = json.loads(path.read_bytes())
        stated, values = read["digest"], read["manifest"]
        if digest(values) != stated or values["observations"] != path.stem:
            raise IntegrityError(str(path), rule="does not match its digest", next_step=_RESTORE)
        if values["format"] != FORMAT:
            raise _other_format(path, values["format"])
        return PartManifest(**values)
    except OSError as error:
        raise IntegrityError(str(path), rule=f"can't be read: {os_reason(error)}", next_step=_RESTORE) from None
    except BlueprintError:
        raise
    except (ValueError, TypeError, KeyError):
        raise IntegrityError(str(path), rule="is no manifest of a part", next_step=_RESTORE) from None


def verified_content(root: Path, manifest: PartManifest) -> bytes:
    """The bytes of a part. Raises `IntegrityError` that names the file where they are not what was written."""
    path = _parquet_path(root, manifest.parquet)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise IntegrityError(str(path), rule=f"can't be read: {os_reason(error)}", next_step=_RESTORE) from None
    found = hashlib.sha256(content).hexdigest()
    if found != manifest.parquet:
        raise IntegrityError(str(path), got=f"SHA-256 {found}", rule="does not match its digest", next_step=_RESTORE)
    return content


def read_part(root: Path, manifest: PartManifest) -> pl.DataFrame:
    """The observations of a part. Raises as `verified_content`."""
    import polars as pl

    return pl.read_parquet(io.BytesIO(verified_content(root, manifest)))


def manifest_folder(root: Path) -> Path:
    """Where the manifests are."""
    return root / "manifests"


def parquet_folder(root: Path) -> Path:
    """Where the Parquet files are."""
    return root / "parts"


def _other_format(path: Path, format: object) -> UnsupportedError:
    rule = f"is of format {format}, and this version reads format {FORMAT}"
    return UnsupportedError(str(path), rule=rule, next_step="Use another version of blueprint-nb.")


def manifest_path(root: Path, observations: str) -> Path:
    """The manifest of the part with these observations."""
    return manifest_folder(root) / f"{observations}.json"


def _parquet_path(root: Path, parquet: str) -> Path:
    return parquet_folder(root) / f"{parquet}.parquet"


@contextmanager
def _lasting(path: Path) -> Iterator[BinaryIO]:
    """`whole_file`, with content and name on the disk when the block ends, so that a crash can't part them."""
    with whole_file(path) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    # A folder can't be opened everywhere; where it can't, its system orders renames by itself.
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
