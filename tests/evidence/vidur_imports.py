"""Profiles made row by row and imported as of an A100."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vidur_profiles import COMPUTE, times, write

from blueprint_nb.evidence import FAMILIES, Imported, VidurProfileImporter
from blueprint_nb.evidence.vidur import KINDS

IMPORTER = VidurProfileImporter(source_revision="made for a test")
COMPUTE_TIMES = times(*KINDS["compute"].operators)
GQA = {**COMPUTE, "n_embd": 8192, "n_expanded_embd": 22016, "n_head": 64, "n_kv_head": 8}


def read(path: Path, kind: str, *rows: dict[str, Any], **named: Any) -> Imported:
    return IMPORTER.read(write(path / f"{kind}.csv", rows), kind, **{"target": "a100", **named})


def shapes(imported: Imported) -> dict[str, tuple[Any, ...]]:
    """Component to family and the sizes of its shape."""
    return {
        row["component"]: (row["family"], *(row[name] for name in FAMILIES[row["family"]].required))
        for row in imported.observations.iter_rows(named=True)
    }
