"""What a GEMM kernel may pick from, by kernel family; nothing here is fitted.

A general library has many tiles and splits k where tiles are few. The kernels of 8-bit floats that serving stacks bring
along leave k whole and pick the tile by m alone: low tiles for few rows, tall ones for many. They take 16-bit
activations, which are quantised first (see `quantise`), and write 16-bit results. Source: the dispatch by m of vLLM's
CUTLASS kernels, as their times show it: they step behind m = 64, 128 and 256.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from ...errors import unknown_name

_TILES: Final = (
    (256, 128, "largest"), (128, 256, "largest"), (128, 128, "largest"),
    (256, 64, "large"), (64, 256, "large"),
    (128, 64, "medium"), (64, 128, "medium"),
    (64, 64, "small"),
    (32, 64, "flat"), (32, 128, "flat"),
    (16, 64, "flattest"), (16, 128, "flattest"),
)  # fmt: skip
CLASSES: Final = ("largest", "large", "medium", "small", "flat", "flattest")
"""Of tiles: those of one class reach the same fraction of the peak."""

_ANY_ROWS: Final = 2**62


@dataclass(frozen=True, eq=False)
class GemmKernel:
    """Structure of one family of kernels."""

    splits: tuple[int, ...] = (1,)
    """Parts that k may be split into."""
    most_rows: Mapping[int, int] | None = None
    """Rows of its tiles to the largest m they are picked for; None: of all tiles, for any m. Tiles are only taken away
    as m grows, so that time does not fall."""
    quantises: bool = False
    """Whether activations come in 16 bits and are quantised first."""
    result_bytes: int | None = None
    """Of an element of the result; None where it is as long as the operands'."""

    @property
    def may_split(self) -> bool:
        """Whether k may be split."""
        return self.splits != (1,)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Of its tiles."""
        return tuple(kind for place, kind in enumerate(CLASSES) if place in self.configurations[2])

    @cached_property
    def configurations(self) -> Any:
        """Rows and columns of the tile, its class, parts of k, largest m: int64 of shape (5, configurations)."""
        most = dict.fromkeys((rows for rows, _, _ in _TILES), _ANY_ROWS) if self.most_rows is None else self.most_rows
        return np.array(
            [
                (rows, columns, CLASSES.index(kind), parts, most[rows])
                for rows, columns, kind in _TILES
                if rows in most
                for parts in self.splits
            ]
        ).T


GEMM_KERNELS: Final = {
    # Of a library, such as cuBLAS.
    "": GemmKernel(splits=(1, 2, 3, 4, 5, 6, 8, 10, 12, 16)),
    # For 8-bit floats, with a scale for each row: a tile serves up to twice its rows, the lowest up to 64.
    "quantised": GemmKernel(most_rows={16: 64, 64: 128, 128: 256, 256: _ANY_ROWS}, quantises=True, result_bytes=2),
}
"""Name to kernel, each with where it runs."""


def gemm_kernel(name: str) -> GemmKernel:
    """By its name. Raises `UnknownNameError`."""
    if name not in GEMM_KERNELS:
        raise unknown_name("kernel", name, [known for known in GEMM_KERNELS if known])
    return GEMM_KERNELS[name]
