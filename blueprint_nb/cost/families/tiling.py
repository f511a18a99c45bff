"""How a prefill kernel cuts its work into tiles: by kernel family, as published.

Sources: `flash_fwd_launch_template.h` of FlashAttention 2 and `tile_size.h` of FlashAttention 3
(Dao-AILab/flash-attention, BSD-3-Clause).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Tiling:
    """Structure of one family of prefill kernels; nothing here is fitted. By size of the head: ≤ 64, 128, 192, more."""

    tile_rows: tuple[int, int, int, int]
    block_tokens: tuple[int, int, int, int]
    """KV tokens of a block."""
    packs_heads: bool = False
    """Whether the query heads of a KV head share the rows of a tile."""
    splits: tuple[int, ...] = (1,)
    """Parts that KV may be split into."""


TILINGS: Final = {
    # vllm: varlen over paged KV.
    "flash_attention_2": Tiling((64, 64, 64, 64), (256, 128, 64, 64)),
    # Vidur: `flash_attn_with_kvcache`.
    "flash_attention_2_kvcache": Tiling((64, 64, 64, 64), (256, 128, 64, 64), splits=(1, 2, 3, 4, 6, 8, 12, 16)),
    # vllm and SGLang on Hopper.
    "flash_attention_3": Tiling((192, 128, 128, 128), (128, 128, 96, 80), packs_heads=True),
    # SGLang on Ampere: the build of FlashAttention 3 without Hopper's instructions.
    "flash_attention_3_sm80": Tiling((128, 128, 128, 128), (64, 64, 64, 64), packs_heads=True),
    # FlashInfer and TensorRT-LLM.
    "generic": Tiling((128, 128, 128, 128), (128, 128, 128, 64)),
}
"""Name to tiling, each with where it runs."""
