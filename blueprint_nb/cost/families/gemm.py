"""GEMM: C[m, n] = A[m, k] · B[k, n], by tiles, waves and split-k.

A library picks a tile and a split of k; the form takes the fastest of a list:

    CTAs   = ⌈m/bm⌉ · ⌈n/bn⌉ · s,  waves of them over the compute units
    time   = floor + min over (tile, s) of (compute³ + memory³ + L2³)^⅓ + [s > 1] · reduction
    compute = waves · (tile's operations / (its unit's peak · efficiency of the tile's class) + wave) + prologue
    memory = bytes / (bandwidth · min(1, CTAs / CTAs that saturate it)),  partial sums of a split included
    L2     = every CTA's operands through the cache

The memory term is kept from falling where one more row of tiles would pull the same weights faster: a tile row more
never makes a GEMM quicker. Source: wave quantisation and split-k as in NVIDIA's "Matrix multiplication background
user's guide" and the CUTLASS documentation. Left out: cluster launches, stream-k, the choice a library really makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from ...units import format_seconds
from .family import Bound, Family, KernelTime, Parameter, column
from .machine import Machine

_TILES: Final = (
    (256, 128, "largest"), (128, 256, "largest"),
    (128, 128, "large"), (256, 64, "large"), (64, 256, "large"),
    (128, 64, "medium"), (64, 128, "medium"),
    (64, 64, "small"),
    (32, 64, "flat"), (32, 128, "flat"),
    (16, 64, "flattest"), (16, 128, "flattest"),
)  # fmt: skip
_CLASSES: Final = ("largest", "large", "medium", "small", "flat", "flattest")
_SPLITS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)
_K_STEP: Final = 32
"""Kernels take k in steps of this many elements."""

_SHORTEST_K: Final = 64
"""A split leaves at least this much of k to each CTA."""

_SLOWING_ROWS: Final = 512
_SLOWING_OCTAVES: Final = 2.0
"""Clocks fall under sustained load: from this m on, over this many doublings of it."""

_CONFIGURATIONS: Final = tuple((bm, bn, _CLASSES.index(kind), s) for bm, bn, kind in _TILES for s in _SPLITS)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Arrays of shape (rows, configurations), or one that broadcasts to it."""

    ctas: Any
    waves: Any
    """CTAs over compute units."""
    waves_of_one_row: Any
    """The same with one row of tiles."""
    tile_seconds: Any
    """Of a tile's operations at its unit's peak, for its share of k."""
    k_element_seconds: Any
    """The same for one element of k."""
    memory_seconds: Any
    memory_seconds_of_one_row: Any
    l2_seconds: Any
    """At the bandwidth of the memory."""
    slowing: Any
    impossible: Any
    tile_class: Any
    """Index into `_CLASSES`."""
    is_split: Any


class Gemm(Family):
    """Matrix products of any m, n and k."""

    name = "gemm"
    dimensions = ("m", "n", "k")
    size = "m"
    bounds: Mapping[str, Bound] = {
        "floor": "floor",
        "split": "floor",
        "compute": "compute",
        "memory": "memory",
        "l2": "memory",
    }
    parameters = (
        Parameter("floor_seconds", 2e-6, 5e-7, 8e-6, "launch, prologue and epilogue of a kernel that does nothing"),
        Parameter("wave_smoothness", 0.4, 0.0, 1.0, "0: waves are whole; 1: they are not felt", is_scale=False),
        Parameter("pipeline_k", 40, 1, 1000, "elements of k that filling the pipeline costs"),
        *(
            Parameter(f"{kind}_tile_efficiency_fraction", start, 0.03, 1.0, f"peak reached by the {kind} tiles")
            for kind, start in zip(_CLASSES, (0.8, 0.8, 0.7, 0.6, 0.4, 0.3), strict=True)
        ),
        Parameter("slowing_fraction", 0.02, 0.0, 0.5, "slower for each doubling of a large m", is_scale=False),
        Parameter("wave_seconds", 3e-7, 1e-8, 5e-6, "start of another wave"),
        Parameter("prologue_seconds", 1e-6, 1e-8, 1e-5, "before the first operands arrive"),
        Parameter("bandwidth_fraction", 0.85, 0.5, 1.05, "of the memory's bandwidth, when saturated"),
        Parameter("saturation_fraction", 0.4, 0.1, 2.0, "CTAs over compute units that saturate the memory"),
        Parameter("l2_bandwidth_ratio", 2.5, 1.0, 12.0, "of the cache's bandwidth to the memory's"),
        Parameter("reduction_seconds", 2e-6, 1e-7, 1e-5, "adding the partial sums of a split"),
    )

    def prepare(self, shape: Mapping[str, Any], machine: Machine) -> _Prepared:
        """Of m, n and k."""
        rows, columns, depth = (column(shape, name) for name in self.dimensions)
        tile_rows, tile_columns, tile_class, splits = np.array(_CONFIGURATIONS).T
        across = np.ceil(columns / tile_columns) * splits
        ctas = np.ceil(rows / tile_rows) * across
        share = np.ceil(depth / splits / _K_STEP) * _K_STEP
        unit_flops = machine.matrix_flops / machine.compute_units
        k_element_seconds = 2.0 * tile_rows * tile_columns / unit_flops

        def memory(height: Any) -> Any:
            operands = height * depth + depth * columns + height * columns
            partial_sums = np.where(splits > 1, 8.0 * height * columns * splits, 0.0)
            return (machine.element_bytes * operands + partial_sums) / machine.bytes_per_second

        waves = ctas / machine.compute_units
        through_l2 = ctas * (tile_rows + tile_columns) * share * machine.element_bytes
        return _Prepared(
            ctas=ctas,
            waves=waves,
            waves_of_one_row=across / machine.compute_units,
            tile_seconds=share * k_element_seconds,
            k_element_seconds=k_element_seconds,
            memory_seconds=memory(rows),
            memory_seconds_of_one_row=memory(np.minimum(rows, tile_rows)),
            l2_seconds=through_l2 / machine.bytes_per_second / np.minimum(1.0, waves),
            slowing=np.clip(np.log2(rows / _SLOWING_ROWS), 0.0, _SLOWING_OCTAVES),
            impossible=(splits > 1) & (share < _SHORTEST_K),
            tile_class=tile_class,
            is_split=splits > 1,
        )

    def narrowed(self, prepared: _Prepared, values: Mapping[str, float], alternatives: int) -> _Prepared:
        """With the fastest configurations of each row alone."""
        seconds = _alternatives(_terms(prepared, values), prepared, values)
        kept = np.argpartition(seconds, alternatives, axis=-1)[:, :alternatives]

        def taken(values: Any) -> Any:
            return np.take_along_axis(np.broadcast_to(values, seconds.shape), kept, axis=-1)

        return _Prepared(**{field.name: taken(getattr(prepared, field.name)) for field in fields(_Prepared)})

    def seconds(self, prepared: _Prepared, values: Mapping[str, float]) -> Any:
        """The fastest configuration's."""
        return values["floor_seconds"] + _alternatives(_terms(prepared, values), prepared, values).min(axis=-1)

    def kernel_time(self, prepared: _Prepared, values: Mapping[str, float]) -> KernelTime:
        """Terms: floor, compute, memory, l2, split, of the fastest configuration; its CTAs and waves."""
        terms = _terms(prepared, values)
        alternatives = _alternatives(terms, prepared, values)
        best = alternatives.argmin(axis=-1)[..., None]

        def chosen(values: Any) -> Any:
            return np.take_along_axis(np.broadcast_to(values, alternatives.shape), best, axis=-1)[..., 0]

        seconds = values["floor_seconds"] + chosen(alternatives)
        picked = {name: chosen(term) for name, term in zip(("compute", "memory", "l2"), terms, strict=True)}
        split = np.where(chosen(prepared.is_split), values["reduction_seconds"], 0.0)
        floor = np.full(seconds.shape, values["floor_seconds"])
        counts = {"ctas": chosen(prepared.ctas), "waves": np.ceil(chosen(prepared.waves))}
        return KernelTime(seconds, {"floor": floor, **picked, "split": split}, counts)

    def explain(self, shape: Mapping[str, int], machine: Machine, values: Mapping[str, float]) -> str:
        """ "128 CTAs on 108 SMs: 2 waves, 59 % full; memory 31 µs; floor 2.1 µs"."""
        prepared = self.prepare({name: np.array([shape[name]]) for name in self.dimensions}, machine)
        time = self.kernel_time(prepared, values)
        terms = {name: float(term[0]) for name, term in time.terms.items()}
        units = machine.compute_units
        ctas, waves = (round(time.counts[name][0]) for name in ("ctas", "waves"))
        full = ctas / (waves * units)
        bound = max(("compute", "memory", "l2"), key=terms.__getitem__)
        name = {"l2": "L2"}.get(bound, bound)
        return (
            f"{ctas:,} CTAs on {units} SMs: {waves:,} {'wave' if waves == 1 else 'waves'}, {full:.0%} full; "
            f"{name} {format_seconds(terms[bound])}; floor {format_seconds(terms['floor'])}"
        ).replace("%", " %")


def _terms(prepared: _Prepared, values: Mapping[str, float]) -> tuple[Any, Any, Any]:
    """Compute, memory and L2 seconds of every configuration."""
    smooth = values["wave_smoothness"]
    efficiency = np.array([values[f"{kind}_tile_efficiency_fraction"] for kind in _CLASSES])[prepared.tile_class]
    waves = (1.0 - smooth) * np.ceil(prepared.waves) + smooth * np.maximum(prepared.waves, 1.0)
    tile = (prepared.tile_seconds + prepared.k_element_seconds * values["pipeline_k"]) / efficiency
    tile = tile * (1.0 + values["slowing_fraction"] * prepared.slowing)
    compute = waves * (tile + values["wave_seconds"]) + values["prologue_seconds"]
    saturation = values["saturation_fraction"]
    memory = np.maximum(
        prepared.memory_seconds / np.minimum(1.0, prepared.waves / saturation),
        prepared.memory_seconds_of_one_row / np.minimum(1.0, prepared.waves_of_one_row / saturation),
    )
    return compute, memory / values["bandwidth_fraction"], prepared.l2_seconds / values["l2_bandwidth_ratio"]


def _alternatives(terms: tuple[Any, Any, Any], prepared: _Prepared, values: Mapping[str, float]) -> Any:
    """Seconds of every configuration without the floor; infinite where there is none such."""
    compute, memory, l2 = terms
    overlapped = np.cbrt(compute * compute * compute + memory * memory * memory + l2 * l2 * l2)
    overlapped = overlapped + np.where(prepared.is_split, values["reduction_seconds"], 0.0)
    return np.where(prepared.impossible, np.inf, overlapped)
