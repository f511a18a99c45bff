"""Samples from the observation table: one row a shape, on the machine that the source's device is.

Duplicate shapes become one row of their median, so that a shape that was timed more often does not count more. Rows of
one component of the source are one group.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from ..catalog import load_system
from ..cost.families import Family, machine_of
from ..errors import UnknownNameError, unknown_name
from ..evidence.sources import one_source
from .sample import Sample, octave_of

if TYPE_CHECKING:
    import polars as pl

SYSTEMS: Final = {
    "vidur": {"a100": "a100_80g_pcie", "h100": "h100_80g_sxm", "a40": "a40_48g"},
    "aiconfigurator-core": {
        "a100_sxm": "a100_80g_sxm",
        "h100_sxm": "h100_80g_sxm",
        "h200_sxm": "h200_141g_sxm",
        "b200_sxm": "b200",
        "l40s": "l40s_48g",
    },
}
"""Source to its name of a device to the system whose figures that device has."""

SIZE: Final = {"gemm": "m", "attention_decode": "context_tokens", "attention_prefill": "query_tokens"}
"""Family to the dimension that octaves are taken of; messages and rows for the others."""


def system_of(source: str, target: str) -> str:
    """The system whose figures a source's device has. Raises `UnknownNameError`."""
    devices = SYSTEMS.get(source)
    if devices is None:
        raise unknown_name("source", source, SYSTEMS)
    if target not in devices:
        raise _unknown_target(target, list(devices))
    return devices[target]


def samples_of(observations: pl.DataFrame, family: Family) -> Iterator[Sample]:
    """A sample for each (target, datatype) of a family's observations, which are of one source, sorted by both.

    Raises `InvalidInputError` where sources are mixed, `UnknownNameError` for a device that no system stands for.
    """
    import polars as pl

    frame = one_source(observations.filter(pl.col("family") == family.name))
    if not len(frame):
        return
    keys = ["target", "datatype", "component", *family.dimensions]
    median = frame.group_by(keys).agg(pl.col("seconds").median()).sort(keys)
    source = frame["source"][0]
    for (target, datatype), rows in median.group_by("target", "datatype", maintain_order=True):
        machine = machine_of(load_system(system_of(source, str(target))), str(datatype))
        shape = {name: rows[name].to_numpy() for name in family.dimensions}
        size = shape[SIZE.get(family.name, family.dimensions[0])]
        _, group = np.unique(rows["component"].to_numpy(), return_inverse=True)
        yield Sample(machine, shape, rows["seconds"].to_numpy(), group.astype(np.int64), octave_of(size))


def _unknown_target(target: str, known: list[str]) -> UnknownNameError:
    return unknown_name("target", target, known)
