"""What the forms of attention decode and prefill share: waves of CTAs, tiles by head size, the floor.

    load(x) = CTAs of the fullest unit, in CTAs that run alone; two at once take `pair_ratio` as long as one; mixed with
              max(x · pair_ratio / 2, 1) by `wave_smoothness`
    bytes take  bytes / (bandwidth · fraction) · slowness,  that and h, what the cache serves, being those of `cache`

A profiler repeats its call, so that what fits in the cache is found there; a model's next layer finds its KV in the
memory. `cold_cache` says how long that takes: it makes h nought.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...units import format_seconds
from ...words import counted
from . import cache
from .family import KernelTime, Parameter

_PADDED_HEAD: Final = 192
"""The one size between powers of two that models use: some kernels pad it."""

LARGE_HEAD: Final = 128

PARTIAL_BYTES: Final = 8.0
"""An FP32 partial result, written and read back."""

DIMENSIONS: Final = ("batch", "query_tokens", "context_tokens", "heads", "kv_heads", "head_size")

SHARED: Final = (
    Parameter("floor_seconds", 6e-6, 5e-7, 3e-5, "launch and end of the kernels of a call that does nothing"),
    Parameter("large_head_seconds", 5e-7, 1e-8, 8e-6, "more of that where heads are larger than 128"),
    Parameter("padded_head_seconds", 5e-7, 1e-8, 1.2e-5, "more of that where heads of 192 are padded"),
    Parameter("pair_ratio", 1.5, 1.0, 2.0, "two CTAs of one unit over one: 1 where they overlap"),
    Parameter("wave_smoothness", 0.3, 0.0, 1.0, "0: waves are whole; 1: they are not felt", is_scale=False),
    Parameter("bandwidth_fraction", 0.85, 0.2, 1.1, "of the memory's bandwidth"),
    Parameter("l2_gain", 2.0, 1.0, 12.0, "of what the cache serves, over the memory"),
    Parameter("l2_share", 0.9, 0.1, 4.0, "of the cache at which half is served from it"),
)


def by_head_size(head_size: Any, sizes: Sequence[int]) -> Any:
    """One of `sizes` for heads of at most 64, 128, 192 and of more elements."""
    return np.array(sizes, dtype=np.float64)[np.searchsorted((64, 128, 192), head_size)]


def floor_seconds(head_size: Any, values: Mapping[str, float]) -> Any:
    """Seconds of a call that does nothing."""
    large = np.where(head_size > LARGE_HEAD, values["large_head_seconds"], 0.0)
    padded = np.where(head_size == _PADDED_HEAD, values["padded_head_seconds"], 0.0)
    return values["floor_seconds"] + large + padded


def load(ctas_per_unit: Any, values: Mapping[str, float]) -> Any:
    """Of the fullest unit, in CTAs that run alone; at least 1."""
    pair, smooth = values["pair_ratio"], values["wave_smoothness"]
    fullest = np.ceil(ctas_per_unit)
    pairs = np.floor(0.5 * fullest)
    whole = pairs * pair + (fullest - 2.0 * pairs)
    return (1.0 - smooth) * whole + smooth * np.maximum(0.5 * pair * ctas_per_unit, 1.0)


def memory_seconds(stream_seconds: Any, fraction_served: Any, values: Mapping[str, float]) -> Any:
    """Seconds of bytes that take `stream_seconds` at the whole bandwidth of the memory."""
    return stream_seconds * (cache.slowness(fraction_served, values) / values["bandwidth_fraction"])


def quickest(terms: Mapping[str, Any], alternatives: Any) -> dict[str, Any]:
    """Terms of shape (rows,) of the alternative that takes the least; `alternatives` of shape (rows, alternatives)."""
    best = alternatives.argmin(axis=-1)[:, None]
    wide = {name: np.broadcast_to(term, alternatives.shape) for name, term in terms.items()}
    return {name: np.take_along_axis(term, best, axis=-1)[:, 0] for name, term in wide.items()}


def in_words(time: KernelTime, units: int, bounds: Sequence[str]) -> str:
    """One kernel's grid, which of the terms `bounds` is the largest, its append and its floor."""
    terms = {name: float(term[0]) for name, term in time.terms.items()}
    ctas, waves, splits = (round(time.counts[name][0]) for name in ("ctas", "waves", "splits"))
    parts = f", KV in {splits} parts" if splits > 1 else ""
    bound = max(bounds, key=terms.__getitem__)
    append = f"append {format_seconds(terms['append'])}; " if terms.get("append") else ""
    return (
        f"{ctas:,} CTAs on {units} SMs{parts}: {counted(waves, 'wave')}; "
        f"{bound} {format_seconds(terms[bound])}; {append}floor {format_seconds(terms['floor'])}"
    )
