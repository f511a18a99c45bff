"""Which tables `aiconfigurator-core` has, and where: `systems/data/<gpu>/<operation>/<framework>/<version>/*.parquet`.

The package is found without being imported, for importing it loads native code that nothing here needs.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ...errors import InvalidInputError, MissingExtraError, ProfileError, shown

__all__ = ["PACKAGE", "MeasuredTable", "given_folder", "installed_folder", "installed_revision", "measured_tables"]

PACKAGE: Final = "aiconfigurator-core"
_MODULE: Final = "aiconfigurator_core"
_NAMES: Final = {
    "gemm_perf": "gemm",
    "context_attention_perf": "context_attention",
    "generation_attention_perf": "generation_attention",
    "custom_allreduce_perf": "custom_allreduce",
    "nccl_perf": "nccl",
    "oneccl_perf": "nccl",
}


@dataclass(frozen=True, slots=True, order=True)
class MeasuredTable:
    """One Parquet file of measurements."""

    target: str
    """The GPU, as the package names it: h100_sxm."""
    kind: str
    """gemm, context_attention, generation_attention, custom_allreduce or nccl."""
    software: str
    """The framework, as its folder says: vllm, sglang, trtllm, nccl."""
    software_version: str
    """As its folder says; rows may say otherwise."""
    path: Path


def installed_folder() -> Path:
    """The folder of the installed package's tables. Raises `MissingExtraError` without the extra `evidence`."""
    spec = find_spec(_MODULE)
    for place in () if spec is None else spec.submodule_search_locations or ():
        folder = Path(place) / "systems" / "data"
        if folder.is_dir():
            return folder
    raise _missing()


def installed_revision() -> str:
    """The version of the installed package. Raises `MissingExtraError` without the extra `evidence`."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        raise _missing() from None


def given_folder(folder: object) -> Path:
    """`folder`, where it is a path. Raises `InvalidInputError`."""
    if not isinstance(folder, (str, os.PathLike)) or not isinstance(os.fspath(folder), str):
        raise InvalidInputError("folder", got=shown(folder), rule="must be the path of a folder")
    return Path(folder)


def measured_tables(folder: Path) -> list[MeasuredTable]:
    """The tables in `folder` of the kinds that can be read, sorted. Raises `ProfileError` where there is none."""
    found = []
    for path in folder.glob("*/*/*/*/*_perf.parquet"):
        if path.stem in _NAMES:
            target, _, software, software_version = path.parent.relative_to(folder).parts
            found.append(MeasuredTable(target, _NAMES[path.stem], software, software_version, path))
    if not found:
        next_step = f"Name the folder systems/data of the package {PACKAGE}."
        raise ProfileError(str(folder), rule="holds no tables of measurements", next_step=next_step)
    return sorted(found)


def _missing() -> MissingExtraError:
    return MissingExtraError(
        f"The package {PACKAGE}",
        rule="is not installed, and its tables are read where it is",
        next_step="Install the extra: pip install 'blueprint-nb[evidence]'.",
    )
