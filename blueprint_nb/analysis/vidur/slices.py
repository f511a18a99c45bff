"""Slices of Vidur's profiles that ship with the project: a few rows, with a manifest that says where they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from ..._schema import Count, Record, Text
from ...catalog import profiles_folder, read_record
from ...errors import IntegrityError, one_of
from .baseline import VidurProfileBaseline

EMBEDDED_SLICE: Final = "phi2_a100_tp1"
"""The default of notebook, widget and command: Phi-2 on an A100, TP 1, three cases."""


class SliceFile(Record):
    """One file of a slice."""

    path: Text
    """Beside the manifest."""
    upstream_path: Text
    """Of the file that the rows were picked from, in its project."""
    upstream_blob: Text
    """Git's id of that whole file."""
    sha256: Text
    """Of the local file's bytes."""


class SliceManifest(Record):
    """Where a slice comes from, and what it is of."""

    name: Text
    """That of its folder."""
    model_name: Text
    """The measured model, as Vidur names it."""
    hardware_name: Text
    """The measured GPU, as Vidur names it."""
    attention_backend: Text
    """The kernels of attention that were timed."""
    block_size: Count
    """Tokens in a block of the KV cache."""
    source: Text
    """The project that measured, and whose work it is."""
    source_revision: Text
    """Git's id of that project's commit."""
    licence: Text
    """Under which the files may be passed on."""
    projection: Text
    """How the slice was made from the upstream files."""
    files: dict[Literal["attention", "compute"], SliceFile]
    """Kind of file to the file."""


def slice_names() -> tuple[str, ...]:
    """Names of the slices that ship with the project, sorted."""
    return tuple(sorted(path.parent.name for path in (profiles_folder() / "vidur").glob("*/manifest.json")))


def load_manifest(name: str = EMBEDDED_SLICE) -> SliceManifest:
    """A slice's manifest. Raises `UnknownNameError`, and else as `read_record`."""
    return read_record(_folder(name) / "manifest.json", SliceManifest)


def load_slice(name: str = EMBEDDED_SLICE) -> VidurProfileBaseline:
    """A slice as a baseline.

    Raises as `load_manifest`, and `IntegrityError` where a file is not the one that the manifest names.
    """
    manifest, folder = load_manifest(name), _folder(name)
    paths = {kind: folder / file.path for kind, file in manifest.files.items()}
    baseline = VidurProfileBaseline.from_csv(
        attention_csv=paths.get("attention"),
        compute_csv=paths.get("compute"),
        model_name=manifest.model_name,
        hardware_name=manifest.hardware_name,
        attention_backend=manifest.attention_backend,
        block_size=manifest.block_size,
        source_revision=manifest.source_revision,
    )
    for kind, file in manifest.files.items():
        found = baseline.file_digests[kind]
        if found != file.sha256:
            raise IntegrityError(
                str(paths[kind]),
                got=f"SHA-256 {found}",
                rule=f"must be the file of the manifest, SHA-256 {file.sha256}",
                next_step="Restore the file.",
            )
    return baseline


def _folder(name: str) -> Path:
    return profiles_folder() / "vidur" / one_of("slice", name, slice_names())
