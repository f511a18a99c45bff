"""What is held out besides what a study holds out itself: a GPU, or a generation of GPUs.

Either is priced by its spec sheet alone, with what the others teach: shapes may recur on it, its times may not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from .observed import system_of
from .study import Part, Study

if TYPE_CHECKING:
    import polars as pl

__all__ = ["GENERATIONS", "HELD_OUT_GENERATION", "HELD_OUT_GPU", "splits_of"]

HELD_OUT_GPU: Final = "leave-one-GPU-out"
HELD_OUT_GENERATION: Final = "leave-one-generation-out"

GENERATIONS: Final = {
    "a100_80g_pcie": "Ampere",
    "a100_80g_sxm": "Ampere",
    "a40_48g": "Ampere",
    "l40s_48g": "Ada",
    "h100_80g_sxm": "Hopper",
    "h200_141g_sxm": "Hopper",
    "b200": "Blackwell",
}
"""System to its generation."""


def splits_of(study: Study) -> dict[str, Sequence[Part]]:
    """The study's own splits and those by device, by their names; none that leaves nothing to learn from.

    Raises `UnknownNameError` for a device that no system stands for.
    """
    devices = study.rows.select("source", "target").unique().sort("target").rows()
    by_device = {
        HELD_OUT_GPU: _each(study.rows, {target: target for _, target in devices}),
        HELD_OUT_GENERATION: _each(
            study.rows, {target: GENERATIONS[system_of(source, target)] for source, target in devices}
        ),
    }
    splits = {**study.splits, **by_device}
    kept = {name: [part for part in parts if len(part[1]) and len(part[2])] for name, parts in splits.items()}
    return {name: parts for name, parts in kept.items() if parts}


def _each(rows: pl.DataFrame, part_of: Mapping[str, str]) -> list[Part]:
    """A part for each value of `part_of`, which says it of a device, sorted."""
    parts = []
    for name in sorted(set(part_of.values())):
        is_held_out = rows["target"].is_in([target for target, found in part_of.items() if found == name])
        parts.append((name, rows.filter(~is_held_out), rows.filter(is_held_out)))
    return parts
