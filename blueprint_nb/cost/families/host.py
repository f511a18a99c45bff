"""The host's time of a step: scheduling, inputs, sampling, outputs, and telling the workers, kernels aside.

    time = floor + batch · sequence + [ranks > 1] · workers

Work on the host goes through the sequences one by one; as soon as there are several ranks, a message goes out to their
processes and comes back, however many they are. Nothing on the device hides it. Source: the shape of Vidur's
`cpu_overheads.csv`. Left out: the length of a sequence, the vocabulary that a sampler sorts, pipeline stages, which
take their turns, and engines that prepare the next step while this one runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...units import format_seconds
from ...words import counted
from .family import Bound, Family, KernelTime, Parameter
from .machine import Machine


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Arrays of shape (rows,)."""

    batch: Any
    has_workers: Any
    """1 or 0."""


class Host(Family):
    """Once a step, of `batch` sequences on `ranks`."""

    name = "host"
    dimensions = ("batch", "ranks")
    size = "batch"
    bounds: Mapping[str, Bound] = {"floor": "floor", "sequences": "floor", "workers": "floor"}
    parameters = (
        Parameter("floor_seconds", 1e-3, 1e-6, 1e-1, "of a step, whatever is in it"),
        Parameter("sequence_seconds", 5e-5, 1e-8, 1e-2, "each sequence"),
        Parameter("workers_seconds", 5e-3, 1e-6, 1e-1, "once, where there are several ranks"),
    )

    def prepare(self, shape: Mapping[str, Any], machine: Machine | None = None) -> _Prepared:
        """Of batch and ranks. The device says nothing about its host."""
        batch, ranks = (np.asarray(shape[name], dtype=np.float64) for name in self.dimensions)
        return _Prepared(batch, (ranks > 1).astype(np.float64))

    def seconds(self, prepared: _Prepared, values: Mapping[str, float]) -> Any:
        """All terms, one after the other."""
        return sum(_terms(prepared, values).values())

    def kernel_time(self, prepared: _Prepared, values: Mapping[str, float]) -> KernelTime:
        """Terms: floor, sequences and workers, which add up to the seconds."""
        terms = _terms(prepared, values)
        return KernelTime(sum(terms.values()), terms)

    def explain(self, shape: Mapping[str, int], machine: Machine | None, values: Mapping[str, float]) -> str:
        """ "32 sequences 1.5 ms; workers 6.7 ms; floor 1.1 ms"."""
        prepared = self.prepare({name: np.array([shape[name]]) for name in self.dimensions})
        terms = {name: float(term[0]) for name, term in _terms(prepared, values).items()}
        workers = f"workers {format_seconds(terms['workers'])}; " if terms["workers"] else ""
        sequences = f"{counted(shape['batch'], 'sequence')} {format_seconds(terms['sequences'])}"
        return f"{sequences}; {workers}floor {format_seconds(terms['floor'])}"


def _terms(prepared: _Prepared, values: Mapping[str, float]) -> dict[str, Any]:
    return {
        "floor": np.full(np.shape(prepared.batch), values["floor_seconds"]),
        "sequences": prepared.batch * values["sequence_seconds"],
        "workers": prepared.has_workers * values["workers_seconds"],
    }
