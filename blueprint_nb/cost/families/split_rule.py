"""Into how many parts a decode kernel splits the KV, and how its tiles are: by kernel family, as published.

Query heads of one KV head share the rows of a tile; a tile takes the KV block by block. Sources:
`flash_fwd_launch_template.h` and `num_splits_heuristic` of FlashAttention 2; `tile_size.h`, `heuristics.h` and the
varlen scheduler of FlashAttention 3 (Dao-AILab/flash-attention, BSD-3-Clause); vLLM's limit of 32 splits under CUDA
graphs.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

FULL_FRACTION: Final = 0.8
"""FlashAttention 2 splits nothing once CTAs reach this fraction of the units."""

_NEAR_BEST: Final = 0.85
"""It takes the fewest splits that fill the waves to this fraction of the fullest."""

_MOST: Final = 128
_COUNTS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)


@dataclass(frozen=True, slots=True)
class SplitRule:
    """Structure of one family of decode kernels; nothing here is fitted."""

    tile_rows: int
    """Query rows of a tile."""
    block_tokens: tuple[int, int, int, int]
    """KV tokens of a block, for heads of at most 64, 128, 192 and of more elements."""
    splits_multi_head: bool = True
    """Whether KV is split where each KV head has one query head."""
    unsplit_blocks: int = 1
    """KV of at most so many blocks is not split."""
    free: bool = False
    """Whether KV may be left whole on a grid that leaves units idle."""
    most_splits: int = _MOST
    capacity_tokens: int = 0
    """Where positive, the count follows the KV that the block table has room for, whatever the context is."""
    has_even_blocks: bool = False
    """Whether a block has the same bytes whatever the head: nothing tells its fixed time from that of its bytes."""
    copies_layout: bool = False
    """Whether queries and results are copied to another layout where query heads are packed."""
    scans_sequences: int = 0
    """A scheduler goes through the sequences one by one; more than so many are charged as so many, since with more of
    them it takes a quicker way."""

    @property
    def counts(self) -> Any:
        """Split counts to choose from: float64 of shape (counts,)."""
        return np.array([count for count in _COUNTS if count <= self.most_splits], dtype=np.float64)


SPLIT_RULES: Final = {
    # vllm: varlen over paged KV.
    "flash_attention_2": SplitRule(
        64, (256, 128, 64, 64), splits_multi_head=False, has_even_blocks=True, copies_layout=True
    ),
    # Vidur: `flash_attn_with_kvcache`, with a block table for 4,096 tokens.
    "flash_attention_2_kvcache": SplitRule(64, (256, 128, 64, 64), capacity_tokens=4096, has_even_blocks=True),
    # SGLang on Hopper.
    "flash_attention_3": SplitRule(128, (128, 128, 80, 80), unsplit_blocks=4, scans_sequences=512),
    # vLLM on Hopper: the scheduler chooses for each sequence.
    "flash_attention_3_dynamic": SplitRule(128, (128, 128, 80, 80), free=True, most_splits=32, scans_sequences=512),
    # SGLang on Ampere: the build of FlashAttention 3 without Hopper's instructions.
    "flash_attention_3_sm80": SplitRule(128, (64, 64, 64, 64), unsplit_blocks=4),
    # FlashInfer and TensorRT-LLM, as far as they pack query heads.
    "generic": SplitRule(64, (128, 128, 64, 64), free=True),
}
"""Name to rule, each with where it runs."""


@functools.lru_cache(maxsize=64)
def split_runs(units: int, blocks: int) -> tuple[Any, Any, Any]:
    """FlashAttention 2's count for every grid of unsplit CTAs, by runs of equal counts: (first grid, last, count).

    The count is erratic in the grid: 21 CTAs may be split into fewer parts than 22.
    """
    counts = np.arange(1, min(_MOST, units, blocks) + 1)
    parts = np.ceil(blocks / counts)
    differs = np.concatenate([[True], parts[1:] != parts[:-1]])
    full = max(int(np.ceil(FULL_FRACTION * units)), 1)
    waves = np.arange(1, full)[:, None] * counts / units
    filled = np.where(differs, waves / np.ceil(waves), 0.0)
    near_best = filled >= _NEAR_BEST * filled.max(axis=1, keepdims=True)
    chosen = np.append(counts[near_best.argmax(axis=1)], 1)
    first = np.flatnonzero(np.append(True, np.diff(chosen) != 0))
    return first + 1.0, np.append(first[1:], np.inf), chosen[first].astype(np.float64)
