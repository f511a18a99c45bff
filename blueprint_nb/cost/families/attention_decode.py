"""Attention decode: few query tokens a sequence against all of its context, split over the units.

Query heads of one KV head share a tile; each CTA goes through its share of the KV block by block, and a second kernel
adds what a split left apart:

    CTAs   = batch · KV heads · tiles · splits
    chain  = load(CTAs / units) · (CTA + blocks of a CTA · block),  what the fullest unit does one after the other
    block  = fixed + its bytes / (bandwidth / units) · ratio · [(1 − h) + h · ratio in cache]
    memory = KV, queries and results through the memory or the cache;  compute = the tiles' operations
    time   = floor + sequences · scan + layout + min over splits of ((chain³ + memory³ + compute³)^⅓ + reduction)

`load` and the floor are those of `attention`, h that of `cache`, the splits those of `split_rule`. Where the software's
rule is erratic in the grid, the time lies between the largest function below it that never falls and the smallest one
above it. Left out: sequences of different lengths, sliding windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from ...errors import unknown_name
from . import attention, cache
from .attention_grid import Grid, Side, Work
from .family import Bound, Family, KernelTime, Parameter, column
from .machine import Machine
from .runs import FEW, ROUNDING, Knots, Pairs, all_pairs, knots, pairs
from .split_rule import SPLIT_RULES

_PARAMETERS: Final = (
    *attention.SHARED,
    Parameter("cta_seconds", 2.5e-6, 5e-8, 2e-5, "start and end of a CTA"),
    Parameter("block_traffic_ratio", 0.9, 0.05, 6.0, "a block's time over its bytes at a unit's share of the memory"),
    Parameter("block_l2_ratio", 0.6, 0.02, 1.0, "that where the cache serves, over that from the memory"),
    Parameter("l2_steepness", 6.0, 1.0, 12.0, "how abruptly the cache runs out"),
    Parameter("compute_fraction", 0.6, 0.05, 1.0, "of the peak of the matrix engines"),
    Parameter("query_traffic_ratio", 1.5, 0.05, 20.0, "traffic of queries and results over their bytes"),
    Parameter("reduction_seconds", 2e-6, 1e-8, 1.5e-5, "the kernel that adds the parts of a split"),
    Parameter("reduction_traffic_ratio", 1.0, 0.05, 20.0, "its time over its bytes at the memory's bandwidth"),
    Parameter("reduction_part_seconds", 5e-8, 5e-10, 1e-6, "each part that it adds"),
)
_BLOCK: Final = (Parameter("block_seconds", 3e-7, 5e-9, 6e-6, "a block of KV, whatever its bytes"),)
_SCAN: Final = (Parameter("sequence_seconds", 1e-8, 1e-10, 1e-7, "the scheduler, for each sequence"),)
_LAYOUT: Final = (
    Parameter("layout_seconds", 3e-6, 1e-8, 1.2e-5, "the kernels that copy queries and results"),
    Parameter("layout_traffic_ratio", 1.0, 0.05, 10.0, "their time over their bytes at the memory's bandwidth"),
)
_CAPACITY: Final = (
    Parameter("idle_part_seconds", 3e-7, 1e-9, 5e-6, "parts of a split that have no KV, for each of a unit"),
    Parameter("envelope_fraction", 0.4, 0.0, 1.0, "of the way between the envelopes of the rule", is_scale=False),
)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """Arrays of shape (rows, 1)."""

    work: Work
    growing: tuple[Any, ...]
    """Batch, query tokens and context: time never falls as they grow, whatever the split."""
    others: tuple[Any, ...]
    """Heads, KV heads and their size."""
    head_size: Any
    cache_fills: Any
    kv_seconds: Any
    """Of all tiles' KV at the bandwidth of the memory."""
    query_seconds: Any
    """Of queries and results."""
    block_seconds: Any
    """Of a block at a unit's share of that bandwidth."""
    copied: Any
    """Whether a kernel that copies layouts would."""
    scanned: Any
    """Sequences that a scheduler goes through."""

    @cached_property
    def grids(self) -> Mapping[Side, Grid]:
        """With all splits."""
        return {side: self.work.grid(side, self.work.alternatives(side)) for side in self.work.sides}

    @cached_property
    def knots(self) -> Knots:
        """Rows that decide which splits may win."""
        return knots(*([one[:, 0] for one in columns] for columns in (self.growing, self.others)))


class AttentionDecode(Family):
    """Decode by one of the kernels of `SPLIT_RULES`; `cold_cache` finds no KV in it. Raises `UnknownNameError`."""

    name = "attention_decode"
    dimensions = attention.DIMENSIONS
    size = "context_tokens"
    bounds: Mapping[str, Bound] = {
        **dict.fromkeys(("floor", "scan", "layout", "split"), "floor"),
        "chain": "memory",
        "memory": "memory",
        "compute": "compute",
    }

    def __init__(self, kernel: str, *, cold_cache: bool = False) -> None:
        if kernel not in SPLIT_RULES:
            raise unknown_name("kernel", kernel, SPLIT_RULES)
        self.kernel = kernel
        self.cold_cache = cold_cache
        self._rule = rule = SPLIT_RULES[kernel]
        own = {
            _BLOCK: not rule.has_even_blocks,
            _SCAN: rule.scans_sequences > 0,
            _LAYOUT: rule.copies_layout,
            _CAPACITY: rule.capacity_tokens > 0,
        }
        self.parameters = (*_PARAMETERS, *(one for some, has in own.items() if has for one in some))

    def prepare(self, shape: Mapping[str, Any], machine: Machine) -> _Prepared:
        """Of the dimensions, counts of one device."""
        batch, queries, context, heads, kv_heads, head_size = (column(shape, name) for name in self.dimensions)
        packed_rows = queries * heads / kv_heads
        tiles = np.ceil(packed_rows / self._rule.tile_rows)
        kv_bytes = 2.0 * machine.element_bytes * batch * kv_heads * context * head_size
        query_bytes = 2.0 * machine.element_bytes * batch * queries * heads * head_size
        block_tokens = attention.by_head_size(head_size, self._rule.block_tokens)
        block_bytes = 2.0 * machine.element_bytes * block_tokens * head_size
        work = Work(
            self._rule,
            machine,
            unsplit_ctas=batch * kv_heads * tiles,
            may_split=self._rule.splits_multi_head | (heads > kv_heads),
            tile_rows=np.minimum(packed_rows, self._rule.tile_rows),
            blocks=np.ceil(context / block_tokens),
            block_tokens=block_tokens,
            head_size=head_size,
        )
        fills = np.full(kv_bytes.shape, np.inf) if self.cold_cache else (kv_bytes + query_bytes) / machine.l2_bytes
        return _Prepared(
            work=work,
            growing=(batch, queries, context),
            others=(heads, kv_heads, head_size),
            head_size=head_size,
            cache_fills=fills,
            kv_seconds=kv_bytes * tiles / machine.bytes_per_second,
            query_seconds=query_bytes / machine.bytes_per_second,
            block_seconds=block_bytes * machine.compute_units / machine.bytes_per_second,
            copied=(heads > kv_heads) & (kv_heads > 1) & (batch > 1),
            scanned=np.minimum(batch, self._rule.scans_sequences),
        )

    def seconds(self, prepared: _Prepared, values: Mapping[str, float]) -> Any:
        """The quickest split's."""
        block, memory = _block_and_memory(prepared, values)
        each = {side: _of_splits(grid, block, memory, values)[0] for side, grid in prepared.grids.items()}
        above = each["upper"].max(axis=-1) if "upper" in each else None
        return _between(each["lower"].min(axis=-1), above, values) + sum(_overheads(prepared, values).values())

    def kernel_time(self, prepared: _Prepared, values: Mapping[str, float]) -> KernelTime:
        """Terms: floor, scan, layout; chain, memory, compute, split (the reduction) of the quickest split; its counts.

        Where the software's rule is erratic, `seconds` may lie above what the terms make.
        """
        block, memory = _block_and_memory(prepared, values)
        those, grid = _that_may_win(prepared, "lower", block, memory, values)
        lower, terms = _of_splits(grid, block[those.row, 0], memory[those.row, 0], values)
        least = np.minimum.reduceat(lower, those.first)
        above = None
        if "upper" in prepared.work.sides:
            slow, slow_grid = _that_may_win(prepared, "upper", block, memory, values)
            upper, _ = _of_splits(slow_grid, block[slow.row, 0], memory[slow.row, 0], values)
            above = np.maximum.reduceat(upper, slow.first)
        overheads = _overheads(prepared, values)
        best = those.first_of(lower == least[those.row])
        chain, compute, reduction = (term[best] for term in terms)
        counts = {"ctas": grid.ctas[best], "waves": np.ceil(grid.ctas_per_unit[best]), "splits": grid.splits[best]}
        return KernelTime(
            _between(least, above, values) + sum(overheads.values()),
            {**overheads, "chain": chain, "memory": memory[:, 0], "compute": compute, "split": reduction},
            counts,
        )

    def explain(self, shape: Mapping[str, int], machine: Machine, values: Mapping[str, float]) -> str:
        """ "128 CTAs on 108 SMs, KV in 4 parts: 2 waves; memory 31 µs; floor 2.1 µs"."""
        prepared = self.prepare({name: np.array([shape[name]]) for name in self.dimensions}, machine)
        time = self.kernel_time(prepared, values)
        return attention.in_words(time, machine.compute_units, ("chain", "memory", "compute"))


def _block_and_memory(prepared: _Prepared, values: Mapping[str, float]) -> tuple[Any, Any]:
    """Seconds of a block, and of all bytes."""
    served = cache.served(prepared.cache_fills, values, values["l2_steepness"])
    ratio = values["block_traffic_ratio"] * (1.0 - served + served * values["block_l2_ratio"])
    traffic = prepared.kv_seconds + values["query_traffic_ratio"] * prepared.query_seconds
    block = values.get("block_seconds", 0.0) + prepared.block_seconds * ratio
    return block, attention.memory_seconds(traffic, served, values)


def _terms(grid: Grid, block: Any, values: Mapping[str, float]) -> tuple[Any, Any, Any]:
    """Chain, compute and reduction seconds of every split."""
    chain = attention.load(grid.ctas_per_unit, values) * (values["cta_seconds"] + grid.blocks * block)
    if "idle_part_seconds" in values:
        chain = chain + values["idle_part_seconds"] * grid.idle_parts_per_unit
    adding = values["reduction_seconds"] + values["reduction_part_seconds"] * grid.splits
    reduction = np.where(grid.splits > 1, adding + values["reduction_traffic_ratio"] * grid.parts_seconds, 0.0)
    return chain, grid.compute_seconds / values["compute_fraction"], reduction


def _of_splits(grid: Grid, block: Any, memory: Any, values: Mapping[str, float]) -> tuple[Any, tuple[Any, Any, Any]]:
    """Seconds of every split without the overheads, `grid.none` where there is no such; and its terms."""
    chain, compute, reduction = terms = _terms(grid, block, values)
    overlapped = np.cbrt(chain * chain * chain + memory * memory * memory + compute * compute * compute)
    return np.where(grid.possible, overlapped + reduction, grid.none), terms


def _that_may_win(
    prepared: _Prepared, side: Side, block: Any, memory: Any, values: Mapping[str, float]
) -> tuple[Pairs, Grid]:
    """Of each row with its splits that may be the quickest, or for the upper side the slowest; and their grid."""
    alternatives = prepared.work.alternatives(side)
    if len(block) <= FEW:
        those = all_pairs(len(block), len(alternatives))
    else:
        those = pairs(_may_win(prepared, side, alternatives, block, memory, values), prepared.knots.below)
    return those, prepared.work.at((those.row, 0)).grid(side, alternatives[those.alternative])


def _may_win(
    prepared: _Prepared, side: Side, alternatives: Any, block: Any, memory: Any, values: Mapping[str, float]
) -> Any:
    """Of each knot, which alternatives may be the quickest until the next, or the slowest: shape (knots, splits)."""
    rows, following = prepared.knots.rows, prepared.knots.next
    grid = prepared.work.at(rows).grid(side, alternatives)
    seconds, _ = _of_splits(grid, block[rows], memory[rows], values)
    if side == "lower":
        return seconds <= seconds.min(axis=-1, keepdims=True)[following] * (1.0 + ROUNDING)
    return seconds[following] * (1.0 + ROUNDING) >= seconds.max(axis=-1, keepdims=True)


def _between(least: Any, above: Any, values: Mapping[str, float]) -> Any:
    """Of the two envelopes where the rule is erratic; `above` is None where it is not."""
    return least if above is None else least * (above / least) ** values["envelope_fraction"]


def _overheads(prepared: _Prepared, values: Mapping[str, float]) -> dict[str, Any]:
    """Floor, scan and layout seconds, of shape (rows,)."""
    overheads = {"floor": attention.floor_seconds(prepared.head_size, values)}
    if "sequence_seconds" in values:
        overheads["scan"] = prepared.scanned * values["sequence_seconds"]
    if "layout_seconds" in values:
        copying = values["layout_seconds"] + values["layout_traffic_ratio"] * prepared.query_seconds
        overheads["layout"] = np.where(prepared.copied, copying, 0.0)
    return {name: seconds[:, 0] for name, seconds in overheads.items()}
