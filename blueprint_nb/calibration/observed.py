"""Samples from the observation table: one row a shape, on the machine that the source's device is.

Duplicate shapes become one row of their median, so that a shape that was timed more often does not count more in a
fit; errors are told of each row. Rows of one component of the source are one group; where a source has one component
alone, attention is grouped by octave of batch and head size, collectives by ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..catalog import load_system
from ..cost.families import Collective, Family, machine_of
from ..cost.octaves import octave_of
from ..errors import UnknownNameError, unknown_name
from ..evidence.sources import one_source
from .sample import Sample

if TYPE_CHECKING:
    import polars as pl

SYSTEMS: Final = {
    "vidur": {"a100": "a100_80g_pcie", "h100": "h100_80g_sxm", "a40": "a40_48g", "a100_dgx": "a100_80g_sxm"},
    "aiconfigurator-core": {
        "a100_sxm": "a100_80g_sxm",
        "h100_sxm": "h100_80g_sxm",
        "h200_sxm": "h200_141g_sxm",
        "b200_sxm": "b200",
        "l40s": "l40s_48g",
    },
}
"""Source to its name of a device to the system whose figures that device has."""

_BATCHES_APART: Final = 1000

FormOf = Callable[[str], Family]
"""A source's name of a device to what times its kernels."""


def system_of(source: str, target: str) -> str:
    """The system whose figures a source's device has. Raises `UnknownNameError`."""
    devices = SYSTEMS.get(source)
    if devices is None:
        raise unknown_name("source", source, SYSTEMS)
    if target not in devices:
        raise _unknown_target(target, list(devices))
    return devices[target]


def samples_of(
    observations: pl.DataFrame, family: Family, form_of: FormOf | None = None, *, each_row: bool = False
) -> Iterator[Sample]:
    """A sample for each (target, datatype) of a family's observations, which are of one source, sorted by both.

    With `each_row` shapes that were timed more than once stay as many rows: what errors are told of.

    Raises `InvalidInputError` where sources are mixed, `UnknownNameError` for a device that no system stands for.
    """
    import polars as pl

    frame = one_source(observations.filter(pl.col("family") == family.name))
    if not len(frame):
        return
    keys = ["target", "datatype", "component", *family.dimensions]
    median = frame if each_row else frame.group_by(keys).agg(pl.col("seconds").median())
    median = median.sort([*keys, "seconds"])
    source = frame["source"][0]
    for (target, datatype), rows in median.group_by("target", "datatype", maintain_order=True):
        machine = machine_of(load_system(system_of(source, str(target))), str(datatype))
        shape = {name: rows[name].to_numpy() for name in family.dimensions}
        yield Sample(
            machine,
            shape,
            rows["seconds"].to_numpy(),
            _groups(rows, family),
            octave_of(shape[family.size]),
            None if form_of is None else form_of(str(target)),
        )


def _groups(rows: pl.DataFrame, family: Family) -> Any:
    """Numbers of what counts the same in each octave."""
    if isinstance(family, Collective):
        return rows["ranks"].to_numpy().astype(np.int64)
    if "batch" in family.dimensions:
        return octave_of(rows["batch"].to_numpy()) * _BATCHES_APART + rows["head_size"].to_numpy()
    return np.unique(rows["component"].to_numpy(), return_inverse=True)[1].astype(np.int64)


def _unknown_target(target: str, known: list[str]) -> UnknownNameError:
    return unknown_name("target", target, known)
