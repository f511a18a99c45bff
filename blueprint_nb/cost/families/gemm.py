"""GEMM: C[m, n] = A[m, k] · B[k, n], by tiles, waves and split-k.

A library picks a tile and a split of k; the form takes the fastest of those that a kernel may pick (`gemm_kernels`):

    CTAs    = ⌈m/bm⌉ · ⌈n/bn⌉ · s,  w = CTAs / compute units,  waves = (1 − smooth) · ⌈w⌉ + smooth · max(w, 1)
    time    = floor + quantise + min over (tile, s) of (compute³ + memory³ + L2³)^⅓ + [s > 1] · reduction
    compute = waves · (2 · bm · bn · (share + pipeline) / (its unit's peak · efficiency of the tile's class) · slow
              + wave) + prologue,  share = ⌈k/s⌉ in steps of 32, at least 64 where s > 1
    memory  = (operands, results and the partial sums of a split) / (bandwidth · fraction · min(1, w / saturation))
    L2      = CTAs · (bm + bn) · share · element / (bandwidth · ratio · min(1, w))

`slow` is 1 up to 100 µs of operations at the peak and grows with each of two doublings from there, as clocks sink under
load. The memory term is kept from falling where one more row of tiles would pull the same weights faster: a tile row
more never makes a GEMM quicker. A kernel that takes activations longer than it multiplies quantises them first
(`quantise`). Source: wave quantisation and split-k as in NVIDIA's "Matrix multiplication background user's guide" and
the CUTLASS documentation.
Left out: cluster launches, stream-k, the choice a library really makes.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np

from ...units import format_seconds
from ...words import counted
from .family import Bound, Family, KernelTime, Parameter
from .gemm_kernels import CLASSES, GemmKernel, gemm_kernel
from .machine import Machine
from .quantise import QUANTISE_PARAMETERS, Quantise
from .runs import FEW, ROUNDING, Pairs, all_pairs, knots, pairs

_K_STEP: Final = 32
"""Kernels take k in steps of this many elements."""

_SHORTEST_K: Final = 64
"""A split leaves at least this much of k to each CTA."""

_SLOWING_SECONDS: Final = 1e-4
_SLOWING_OCTAVES: Final = 2.0
"""Clocks fall under sustained load: from so many seconds of operations at the peak on, over this many doublings."""


@dataclass(frozen=True, slots=True)
class _Configurations:
    """Arrays of shape (rows, configurations), or broadcast to it; of pairs of a row and one, of shape (pairs,)."""

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
    """Index into `CLASSES`."""
    is_split: Any


@dataclass(frozen=True, eq=False)
class _Prepared:
    """Shapes: m, n and k as float64 arrays of shape (rows,)."""

    shape: tuple[Any, Any, Any]
    machine: Machine
    kernel: GemmKernel
    narrowed: _Configurations | None = None
    """The few that are looked at, where not all are."""

    @functools.cached_property
    def all(self) -> _Configurations:
        """That the kernel may pick from."""
        return self.narrowed or self.configurations([size[:, None] for size in self.shape], slice(None))

    @functools.cached_property
    def quantise(self) -> Quantise | None:
        """The activations, where they are to be quantised."""
        m, _, k = self.shape
        return Quantise.of(m, k, self.machine) if self.kernel.quantises else None

    def configurations(self, shape: Sequence[Any], which: Any) -> _Configurations:
        """Of m, n and k; `which` is an index into the kernel's configurations."""
        return _configurations(shape, self.machine, self.kernel, self.kernel.configurations[:, which])

    def pairs(self, values: Mapping[str, float]) -> Pairs:
        """Of each row with its configurations that may be the fastest."""
        m, n, k = self.shape
        if len(m) <= FEW:
            return all_pairs(len(m), self.kernel.configurations.shape[1])
        at = knots((m,), (n, k))
        found = self.configurations([size[at.rows, None] for size in self.shape], slice(None))
        whole, split = _cubes(_terms(found, values), found)
        reduction = _reduction(values)
        fastest = np.minimum(np.cbrt(whole.min(axis=-1)), np.cbrt(split.min(axis=-1)) + reduction)
        most = (fastest[at.next] * (1.0 + ROUNDING))[:, None]
        return pairs((whole <= most**3) | (split <= np.maximum(most - reduction, 0.0) ** 3), at.below)


_EFFICIENCY_STARTS: Final = dict(zip(CLASSES, (0.8, 0.8, 0.7, 0.6, 0.4, 0.3), strict=True))
_REDUCTION: Final = Parameter("reduction_seconds", 2e-6, 1e-7, 1e-5, "adding the partial sums of a split")


@functools.cache
def _parameters(kernel: GemmKernel) -> tuple[Parameter, ...]:
    return (
        Parameter("floor_seconds", 2e-6, 5e-7, 8e-6, "launch, prologue and epilogue of a kernel that does nothing"),
        Parameter("wave_smoothness", 0.4, 0.0, 1.0, "0: waves are whole; 1: they are not felt", is_scale=False),
        Parameter("pipeline_k", 40, 1, 1000, "elements of k that filling the pipeline costs"),
        *(
            Parameter(_efficiency(kind), _EFFICIENCY_STARTS[kind], 0.03, 1.0, f"peak reached by the {kind} tiles")
            for kind in kernel.classes
        ),
        Parameter("slowing_fraction", 0.02, 0.0, 0.5, "slower for each doubling of much work", is_scale=False),
        Parameter("wave_seconds", 3e-7, 1e-8, 5e-6, "start of another wave"),
        Parameter("prologue_seconds", 1e-6, 1e-8, 1e-5, "before the first operands arrive"),
        Parameter("bandwidth_fraction", 0.85, 0.5, 1.05, "of the memory's bandwidth, when saturated"),
        Parameter("saturation_fraction", 0.4, 0.1, 2.0, "CTAs over compute units that saturate the memory"),
        Parameter("l2_bandwidth_ratio", 2.5, 1.0, 12.0, "of the cache's bandwidth to the memory's"),
        *((_REDUCTION,) if kernel.may_split else ()),
        *(QUANTISE_PARAMETERS if kernel.quantises else ()),
    )


def _efficiency(kind: str) -> str:
    return f"{kind}_tile_efficiency_fraction"


class Gemm(Family):
    """Matrix products of any m, n and k, by one of `GEMM_KERNELS`. Raises `UnknownNameError`."""

    name = "gemm"
    dimensions = ("m", "n", "k")
    size = "m"
    bounds: Mapping[str, Bound] = {
        "floor": "floor",
        "split": "floor",
        "compute": "compute",
        "memory": "memory",
        "l2": "memory",
        "quantise": "floor",
    }

    def __init__(self, kernel: str = "") -> None:
        self.kernel = kernel
        self._kernel = gemm_kernel(kernel)
        self.parameters = _parameters(self._kernel)

    def prepare(self, shape: Mapping[str, Any], machine: Machine) -> _Prepared:
        """Of m, n and k."""
        m, n, k = np.broadcast_arrays(*(np.asarray(shape[name], dtype=np.float64) for name in self.dimensions))
        return _Prepared((m, n, k), machine, self._kernel)

    def narrowed(self, prepared: _Prepared, values: Mapping[str, float], alternatives: int) -> _Prepared:
        """The fastest configurations of each row alone."""
        found = prepared.all
        whole, split = _cubes(_terms(found, values), found)
        seconds = np.minimum(np.cbrt(whole), np.cbrt(split) + _reduction(values))
        kept = np.argpartition(seconds, alternatives, axis=-1)[:, :alternatives]

        def taken(values: Any) -> Any:
            return np.take_along_axis(np.broadcast_to(values, seconds.shape), kept, axis=-1)

        few = {field.name: taken(getattr(found, field.name)) for field in fields(_Configurations)}
        return replace(prepared, narrowed=_Configurations(**few))

    def seconds(self, prepared: _Prepared, values: Mapping[str, float]) -> Any:
        """The fastest configuration's."""
        found = prepared.all
        whole, split = _cubes(_terms(found, values), found)
        return _seconds(prepared, whole.min(axis=-1), split.min(axis=-1), values)

    def kernel_time(self, prepared: _Prepared, values: Mapping[str, float]) -> KernelTime:
        """Terms: floor, compute, memory, l2, of the fastest configuration, split and quantise where the kernel does;
        its CTAs and waves.
        """
        those = prepared.pairs(values)
        shape = [size[those.row] for size in prepared.shape]
        found = prepared.configurations(shape, those.alternative)
        terms = _terms(found, values)
        whole, split = _cubes(terms, found)
        least_whole, least_split = (np.minimum.reduceat(cubes, those.first) for cubes in (whole, split))
        split_wins = np.cbrt(least_split) + _reduction(values) < np.cbrt(least_whole)
        is_least = np.where(split_wins[those.row], split == least_split[those.row], whole == least_whole[those.row])
        best = those.first_of(is_least)
        picked = {name: term[best] for name, term in zip(("compute", "memory", "l2"), terms, strict=True)}
        picked = {"floor": np.full(len(best), values["floor_seconds"]), **picked}
        if self._kernel.may_split:
            picked["split"] = np.where(split_wins, _reduction(values), 0.0)
        if prepared.quantise is not None:
            picked["quantise"] = prepared.quantise.seconds(values)
        counts = {"ctas": found.ctas[best], "waves": np.ceil(found.waves[best])}
        return KernelTime(_seconds(prepared, least_whole, least_split, values), picked, counts)

    def explain(self, shape: Mapping[str, int], machine: Machine, values: Mapping[str, float]) -> str:
        """ "128 CTAs on 108 SMs: 2 waves, 59 % full; memory 31 µs; floor 2.1 µs"; after the memory, quantise 1.2 µs."""
        prepared = self.prepare({name: np.array([shape[name]]) for name in self.dimensions}, machine)
        time = self.kernel_time(prepared, values)
        terms = {name: float(term[0]) for name, term in time.terms.items()}
        units = machine.compute_units
        ctas, waves = (round(time.counts[name][0]) for name in ("ctas", "waves"))
        full = ctas / (waves * units)
        bound = max(("compute", "memory", "l2"), key=terms.__getitem__)
        name = {"l2": "L2"}.get(bound, bound)
        quantised = f"quantise {format_seconds(terms['quantise'])}; " if "quantise" in terms else ""
        return (
            f"{ctas:,} CTAs on {units} SMs: {counted(waves, 'wave')}, {full:.0%} full; "
            f"{name} {format_seconds(terms[bound])}; {quantised}floor {format_seconds(terms['floor'])}"
        ).replace("%", " %")


def _configurations(shape: Sequence[Any], machine: Machine, kernel: GemmKernel, configurations: Any) -> _Configurations:
    """Of m, n and k; `configurations` are columns of the kernel's."""
    m, n, k = shape
    tile_rows, tile_columns, tile_class, splits, most_rows = configurations
    result_bytes = kernel.result_bytes or machine.element_bytes
    across = np.ceil(n / tile_columns) * splits
    ctas = np.ceil(m / tile_rows) * across
    share = np.ceil(k / splits / _K_STEP) * _K_STEP
    unit_flops = machine.matrix_flops / machine.compute_units
    peak_seconds = 2.0 * m * n * k / machine.matrix_flops
    k_element_seconds = 2.0 * tile_rows * tile_columns / unit_flops

    def memory(height: Any) -> Any:
        operands = machine.element_bytes * (height * k + k * n) + result_bytes * height * n
        partial_sums = np.where(splits > 1, 8.0 * height * n * splits, 0.0)
        return (operands + partial_sums) / machine.bytes_per_second

    waves = ctas / machine.compute_units
    through_l2 = ctas * (tile_rows + tile_columns) * share * machine.element_bytes
    return _Configurations(
        ctas=ctas,
        waves=waves,
        waves_of_one_row=across / machine.compute_units,
        tile_seconds=share * k_element_seconds,
        k_element_seconds=k_element_seconds,
        memory_seconds=memory(m),
        memory_seconds_of_one_row=memory(np.minimum(m, tile_rows)),
        l2_seconds=through_l2 / machine.bytes_per_second / np.minimum(1.0, waves),
        slowing=np.clip(np.log2(peak_seconds / _SLOWING_SECONDS), 0.0, _SLOWING_OCTAVES),
        impossible=((splits > 1) & (share < _SHORTEST_K)) | (m > most_rows),
        tile_class=tile_class,
        is_split=splits > 1,
    )


def _terms(found: _Configurations, values: Mapping[str, float]) -> tuple[Any, Any, Any]:
    """Compute, memory and L2 seconds of every configuration."""
    smooth = values["wave_smoothness"]
    # A class that none of the kernel's tiles is of is never asked for.
    efficiency = np.array([values.get(_efficiency(kind), np.nan) for kind in CLASSES])[found.tile_class]
    waves = (1.0 - smooth) * np.ceil(found.waves) + smooth * np.maximum(found.waves, 1.0)
    tile = (found.tile_seconds + found.k_element_seconds * values["pipeline_k"]) / efficiency
    tile = tile * (1.0 + values["slowing_fraction"] * found.slowing)
    compute = waves * (tile + values["wave_seconds"]) + values["prologue_seconds"]
    saturation = values["saturation_fraction"]
    memory = np.maximum(
        found.memory_seconds / np.minimum(1.0, found.waves / saturation),
        found.memory_seconds_of_one_row / np.minimum(1.0, found.waves_of_one_row / saturation),
    )
    return compute, memory / values["bandwidth_fraction"], found.l2_seconds / values["l2_bandwidth_ratio"]


def _cubes(terms: tuple[Any, Any, Any], found: _Configurations) -> tuple[Any, Any]:
    """The sum of the terms' cubes, once where k is left whole and once where it is split; elsewhere infinite."""
    compute, memory, l2 = terms
    total = compute * compute * compute + memory * memory * memory + l2 * l2 * l2
    whole = np.where(found.is_split | found.impossible, np.inf, total)
    return whole, np.where(found.is_split & ~found.impossible, total, np.inf)


def _seconds(prepared: _Prepared, whole: Any, split: Any, values: Mapping[str, float]) -> Any:
    """Of the least sums of cubes: only of those is the root drawn."""
    seconds = values["floor_seconds"] + np.minimum(np.cbrt(whole), np.cbrt(split) + _reduction(values))
    return seconds if prepared.quantise is None else seconds + prepared.quantise.seconds(values)


def _reduction(values: Mapping[str, float]) -> float:
    """Seconds; a kernel that leaves k whole has none."""
    return values.get("reduction_seconds", 0.0)
