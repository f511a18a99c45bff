"""Attention prefill: many query tokens a sequence, causal, with or without context from before.

CTAs take tiles of queries; each goes through the KV blocks that its queries see, the last tile through all of them:

    blocks of the last = context / block + loss,  loss = (1 − gcd(tile rows, block) / block) / 2: mean of rounding up
    blocks of all      = tiles · blocks of the last − tile tokens / block · tiles · (tiles − 1) / 2: causal triangle
    longest = CTA + blocks of the last · block time · ratio alone
    tiles   = load(CTAs / units) · CTA + load(CTAs like the last, of as many blocks / units) · its block times + tail
    memory  = queries, results and KV through the memory or the cache
    time    = floor + append + min over splits of ((longest^p + tiles^p + memory^p)^(1/p) + reduction)

`load`, the time of bytes and the floor are those of `attention`, tiles those of `tiling`. A block takes its operations
and a softmax cost a score; all tiles together never take less than the causal operations at peak. The triangle is that
of whole tiles, so that more queries of one context never take less. Left out: sequences of different lengths, sliding
windows, masks that are not causal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...errors import unknown_name
from . import attention, cache
from .family import Bound, Family, KernelTime, Parameter, column
from .machine import Machine
from .tiling import TILINGS

_L2_STEEPNESS: Final = 4.0

_PARAMETERS: Final = (
    *attention.SHARED,
    Parameter("cta_seconds", 1.5e-6, 2e-8, 2e-5, "start and end of a CTA"),
    Parameter("compute_fraction", 0.7, 0.1, 1.0, "of the peak of the matrix engines"),
    Parameter("large_head_ratio", 0.9, 0.2, 1.5, "of that with heads of more than 128 to that with others"),
    Parameter("softmax_flops", 60.0, 0.5, 2000.0, "matrix operations that the softmax of a score costs"),
    Parameter("alone_ratio", 0.8, 0.3, 4.0, "a block's time in a CTA alone, over that among many"),
    Parameter("tail_fraction", 0.2, 0.0, 1.5, "of the longest CTA, by which the last ones end late", is_scale=False),
    Parameter("query_traffic_ratio", 1.0, 0.1, 8.0, "traffic of queries and results over their bytes"),
    Parameter("overlap_exponent", 1.5, 1.0, 8.0, "1: longest, tiles and memory add up; large: they overlap"),
    Parameter("append_token_seconds", 1e-7, 1e-9, 5e-6, "a new token written to the KV cache, for each of a unit"),
    Parameter("append_traffic_ratio", 1.0, 0.02, 10.0, "time of writing them over their bytes"),
)
_REDUCTION: Final = Parameter("reduction_seconds", 3e-6, 1e-7, 1.5e-5, "the kernel that adds the parts of a split")


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Arrays of shape (rows, splits), or that broadcast to it."""

    head_size: Any
    splits: Any
    ctas: Any
    ctas_per_unit: Any
    longest_ctas_per_unit: Any
    """As many of the longest as do the same work."""
    longest_blocks: Any
    """Of one CTA."""
    matrix_seconds: Any
    """Of a block's operations at its unit's peak."""
    softmax_seconds: Any
    """Of one operation a score of a block."""
    peak_seconds: Any
    """Of all causal operations at the peak of the device."""
    query_seconds: Any
    """Of queries and results at the bandwidth of the memory."""
    kv_seconds: Any
    parts_seconds: Any
    """Of the partial results of a split."""
    appended_seconds: Any
    """Of the new tokens' KV, read and written."""
    tokens_per_unit: Any
    """Appended."""
    fills_per_second: float
    """Of the L2 cache, at that bandwidth."""


class AttentionPrefill(Family):
    """Prefill by one of the kernels of `TILINGS`, which appends to the KV cache. Raises `UnknownNameError`."""

    name = "attention_prefill"
    dimensions = attention.DIMENSIONS
    size = "query_tokens"
    bounds: Mapping[str, Bound] = {
        **dict.fromkeys(("floor", "append", "split"), "floor"),
        "longest": "compute",
        "tiles": "compute",
        "memory": "memory",
    }

    def __init__(self, kernel: str) -> None:
        if kernel not in TILINGS:
            raise unknown_name("kernel", kernel, TILINGS)
        self.kernel = kernel
        self._tiling = TILINGS[kernel]
        self.parameters = (*_PARAMETERS, *((_REDUCTION,) if len(self._tiling.splits) > 1 else ()))

    def prepare(self, shape: Mapping[str, Any], machine: Machine) -> _Prepared:
        """Of the dimensions, counts of one device."""
        batch, queries, context, heads, kv_heads, head_size = (column(shape, name) for name in self.dimensions)
        tiling, element = self._tiling, machine.element_bytes
        splits = np.array(tiling.splits, dtype=np.float64)
        tile_rows = attention.by_head_size(head_size, tiling.tile_rows)
        block_tokens = attention.by_head_size(head_size, tiling.block_tokens)
        packed = heads / kv_heads if tiling.packs_heads else np.ones_like(heads)
        tile_tokens = tile_rows / packed
        tiles = np.ceil(queries * packed / tile_rows)
        longest = np.maximum(context / block_tokens + _mean_loss(tile_rows, block_tokens), 1.0)
        blocks = tiles * longest - tile_tokens / block_tokens * tiles * (tiles - 1.0) / 2.0
        rows_of_tiles = batch * heads / packed * splits
        unit_flops = machine.matrix_flops / machine.compute_units
        scores = batch * heads * queries * (context - (queries - 1.0) / 2.0)
        partials = batch * queries * heads * splits * (head_size + 1.0)
        tokens = batch * queries
        bandwidth = machine.bytes_per_second
        return _Prepared(
            head_size=head_size,
            splits=splits,
            ctas=rows_of_tiles * tiles,
            ctas_per_unit=rows_of_tiles * tiles / machine.compute_units,
            longest_ctas_per_unit=rows_of_tiles * (blocks / longest) / machine.compute_units,
            longest_blocks=np.maximum(longest / splits, 1.0),
            matrix_seconds=4.0 * tile_rows * block_tokens * head_size / unit_flops,
            softmax_seconds=tile_rows * block_tokens / unit_flops,
            peak_seconds=4.0 * head_size * scores / machine.matrix_flops,
            query_seconds=2.0 * element * batch * queries * heads * head_size / bandwidth,
            kv_seconds=2.0 * element * batch * context * kv_heads * head_size / bandwidth,
            parts_seconds=attention.PARTIAL_BYTES * partials / bandwidth,
            appended_seconds=4.0 * element * tokens * kv_heads * head_size / bandwidth,
            tokens_per_unit=tokens / machine.compute_units,
            fills_per_second=bandwidth / machine.l2_bytes,
        )

    def seconds(self, prepared: _Prepared, values: Mapping[str, float]) -> Any:
        """The quickest split's."""
        return _split_seconds(_terms(prepared, values), values).min(axis=-1) + sum(_overheads(prepared, values))

    def kernel_time(self, prepared: _Prepared, values: Mapping[str, float]) -> KernelTime:
        """Terms: floor, append; longest, tiles, memory, split (the reduction) of the quickest split; its counts."""
        terms = _terms(prepared, values)
        alternatives = _split_seconds(terms, values)
        counts = {"ctas": prepared.ctas, "waves": np.ceil(prepared.ctas_per_unit), "splits": prepared.splits}
        floor, append = _overheads(prepared, values)
        chosen = attention.quickest({**terms, **counts}, alternatives)
        picked = {name: chosen.pop(name) for name in counts}
        seconds = alternatives.min(axis=-1) + floor + append
        return KernelTime(seconds, {"floor": floor, "append": append, **chosen}, picked)

    def explain(self, shape: Mapping[str, int], machine: Machine, values: Mapping[str, float]) -> str:
        """ "128 CTAs on 108 SMs: 2 waves; tiles 31 µs; append 1.2 µs; floor 2.1 µs"."""
        prepared = self.prepare({name: np.array([shape[name]]) for name in self.dimensions}, machine)
        time = self.kernel_time(prepared, values)
        return attention.in_words(time, machine.compute_units, ("longest", "tiles", "memory"))


def _mean_loss(tile_rows: Any, block_tokens: Any) -> Any:
    """Blocks that rounding up costs a tile, on the mean over where it ends."""
    step = np.gcd(tile_rows.astype(np.int64), block_tokens.astype(np.int64))
    return 0.5 * (1.0 - step / block_tokens)


def _terms(prepared: _Prepared, values: Mapping[str, float]) -> dict[str, Any]:
    """Longest, tiles, memory and reduction seconds of every split."""
    large = np.where(prepared.head_size > attention.LARGE_HEAD, values["large_head_ratio"], 1.0)
    block = prepared.matrix_seconds / (values["compute_fraction"] * large)
    walk = prepared.longest_blocks * (block + values["softmax_flops"] * prepared.softmax_seconds)
    one = values["cta_seconds"] + values["alone_ratio"] * walk
    tail = values["tail_fraction"] * one * (1.0 - 1.0 / np.maximum(prepared.ctas_per_unit, 1.0))
    starts = attention.load(prepared.ctas_per_unit, values) * values["cta_seconds"]
    tiles = starts + attention.load(prepared.longest_ctas_per_unit, values) * walk + tail
    traffic = values["query_traffic_ratio"] * prepared.query_seconds + prepared.kv_seconds
    served = cache.served(traffic * prepared.fills_per_second, values, _L2_STEEPNESS)
    adding = values.get("reduction_seconds", 0.0) + prepared.parts_seconds
    return {
        "longest": one,
        "tiles": np.maximum(tiles, prepared.peak_seconds),
        "memory": attention.memory_seconds(traffic, served, values),
        "split": np.where(prepared.splits > 1, adding, 0.0),
    }


def _split_seconds(terms: Mapping[str, Any], values: Mapping[str, float]) -> Any:
    """Of every split, without floor and append."""
    exponent = values["overlap_exponent"]
    overlapped = sum(terms[name] ** exponent for name in ("longest", "tiles", "memory")) ** (1.0 / exponent)
    return overlapped + terms["split"]


def _overheads(prepared: _Prepared, values: Mapping[str, float]) -> tuple[Any, Any]:
    """Floor and append seconds, of shape (rows,)."""
    floor = attention.floor_seconds(prepared.head_size, values)
    served = cache.served(prepared.appended_seconds * prepared.fills_per_second, values, _L2_STEEPNESS)
    written = prepared.appended_seconds * cache.slowness(served, values)
    append = values["append_token_seconds"] * prepared.tokens_per_unit + values["append_traffic_ratio"] * written
    return floor[:, 0], append[:, 0]
