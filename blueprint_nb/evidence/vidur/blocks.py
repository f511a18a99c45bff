"""What a compute file's columns tell of its blocks: which operators a block has at all, and how many adds `add` times.

A file does not say how residuals run. A block with an input norm and no post-attention norm has parallel residuals; it
runs two add kernels, attention's output to the MLP's and that to the residual stream, and Vidur's one `add` times both.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .table import ProfileTable

__all__ = ["has_two_adds", "is_timed"]

_BLOCK: Final = ("n_embd", "n_expanded_embd", "n_head", "n_kv_head", "use_gated_mlp")
"""Keys that tell one model's block from another's, whatever the step."""


def is_timed(table: ProfileTable, operator: str, rows: NDArray[np.int64]) -> bool:
    """Whether any of `rows` times the operator, rightly or not. A cell that is empty or 0 has nothing to time."""
    if operator not in table.milliseconds:
        return False
    if not np.isnan(table.milliseconds[operator][rows]).all():
        return True
    faults = table.faults.get(operator, {})
    return any(row in faults and not _is_zero(faults[row].got) for row in rows.tolist())


def has_two_adds(table: ProfileTable) -> NDArray[np.bool_]:
    """Of each row of a compute file: whether its `add` times both adds of a parallel block."""
    two = np.zeros(len(table), dtype=np.bool_)
    if not len(table):
        return two
    _, block = np.unique(np.stack([table.keys[key] for key in _BLOCK], axis=1), axis=0, return_inverse=True)
    block = block.reshape(-1)
    order = np.argsort(block, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(block[order])) + 1):
        two[rows] = is_timed(table, "input_layernorm", rows) and not is_timed(table, "post_attention_layernorm", rows)
    return two


def _is_zero(cell: str) -> bool:
    try:
        return float(cell) == 0.0
    except ValueError:
        return False
