"""What is held out besides what a study holds out itself: a GPU of the study's source, or a generation of its GPUs.

Either is priced by its spec sheet alone, with what the source's others teach: shapes may recur on it, its times may
not. Of the pooled set, which all sources teach, other rows are held out (see `pooled_parts`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from .gpus import GPUS
from .observed import system_of
from .study import Part, Study
from .vidur_sets import HELD_OUT_HIDDEN_SIZE, HELD_OUT_MODEL

if TYPE_CHECKING:
    import polars as pl

HELD_OUT_OF_SOURCE: Final = "leave-one-GPU-out within a source"
HELD_OUT_GENERATION: Final = "leave-one-generation-out"

WITH_LEARNED: Final = (HELD_OUT_MODEL, HELD_OUT_HIDDEN_SIZE)
"""Splits in which the learned residual is judged: others hold out a whole device, or families that have no layer."""


def splits_of(study: Study) -> dict[str, Sequence[Part]]:
    """The study's own splits and those by device, by their names; none that leaves nothing to learn from.

    Raises `UnknownNameError` for a device that no system stands for.
    """
    devices = study.rows.select("source", "target").unique().sort("target").rows()
    by_device = {
        HELD_OUT_OF_SOURCE: _each(study.rows, {target: target for _, target in devices}),
        HELD_OUT_GENERATION: _each(
            study.rows, {target: GPUS[system_of(source, target)].generation for source, target in devices}
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
