"""Where a checkout of Vidur keeps its profiles: which file is of which kind, hardware and model, by its path alone.

Layouts of all versions are known: `compute/<hardware>/<model>/{mlp,linear_op}.csv`, with an `attention.csv` beside it
or under `attention/<hardware>/[<model>/]`, `network/<machine>/{all_reduce,send_recv}.csv` and
`cpu_overhead/<hardware>/cpu_overheads.csv`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

from ...errors import InvalidInputError, ProfileError, shown

__all__ = ["HOST", "ProfileFile", "profile_files"]

HOST: Final = "cpu_overheads"
"""The kind of file that times the host; `KINDS` has the others."""

_ROOTS: Final = (".", "profiling", "data/profiling")
_LAYOUT: Final = (
    ("compute", "mlp.csv", "compute"),
    ("compute", "linear_op.csv", "compute"),
    ("compute", "attention.csv", "attention"),
    ("attention", "attention.csv", "attention"),
    ("network", "all_reduce.csv", "all_reduce"),
    ("network", "send_recv.csv", "send_recv"),
    ("cpu_overhead", "cpu_overheads.csv", HOST),
)


class ProfileFile(NamedTuple):
    """A file of a checkout."""

    path: Path
    kind: str
    target: str
    """Vidur's name of the hardware, or of the machine whose collectives were timed."""
    model: str
    """Vidur's name, with a slash; empty where the path names none."""


def profile_files(root: str | os.PathLike[str]) -> list[ProfileFile]:
    """The profiles in `root`: `data/profiling` of Vidur, or a folder that holds it. Sorted by path.

    Raises `ProfileError` where there is none, `InvalidInputError` for what is no path.
    """
    if not isinstance(root, (str, os.PathLike)) or not isinstance(os.fspath(root), str):
        raise InvalidInputError("root", got=shown(root), rule="must be the path of a folder")
    for folder in (Path(root) / name for name in _ROOTS):
        if found := [
            _placed(path, folder / part, kind) for part, name, kind in _LAYOUT for path in _named(folder / part, name)
        ]:
            return sorted(found)
    raise ProfileError(
        str(root),
        rule="holds no Vidur profiles",
        next_step="Name the folder data/profiling of a checkout of Vidur.",
    )


def _named(folder: Path, name: str) -> list[Path]:
    return list(folder.glob(f"*/**/{name}"))


def _placed(path: Path, folder: Path, kind: str) -> ProfileFile:
    target, *model = path.parent.relative_to(folder).parts
    return ProfileFile(path, kind, target, "/".join(model))
