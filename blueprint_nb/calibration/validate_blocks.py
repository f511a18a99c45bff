"""Held-out kernels added up to blocks: in a sum errors cancel, so it stands beside the errors of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ..evidence.vidur import KINDS
from .errors import percent

if TYPE_CHECKING:
    import polars as pl

_OUTSIDE: Final = ("emb",)
"""Timed in a file of Vidur's blocks, but no part of a block: the embedding runs once."""

BLOCK: Final = tuple(name for name in KINDS["compute"].operators if name not in _OUTSIDE)
"""Components whose sum is a block's subtotal. Its attention is timed in another file, at other steps."""

STEP: Final = ("split", "held_out", "target", "datatype", "model", "tensor_parallel", "size")
"""What a block is of."""


def block_rows(rows: pl.DataFrame, predictors: Sequence[str]) -> pl.DataFrame:
    """Sums over the `BLOCK` components of each step that has them all: measured_seconds and predictors (s)."""
    import polars as pl

    in_block = rows.filter(pl.col("component").is_in(BLOCK))
    whole = in_block.group_by("target", "model").agg(pl.col("component").n_unique().alias("components"))
    summed = in_block.group_by(STEP).agg(pl.len(), pl.col("measured_seconds", *predictors).sum())
    kept = summed.join(whole, on=["target", "model"]).filter(pl.col("len") == pl.col("components"))
    return kept.drop("len", "components").sort(STEP)


def subtotals(blocks: pl.DataFrame, predictors: Sequence[str]) -> pl.DataFrame:
    """For each split, target and predictor: blocks, mape_percent, p90_percent and max_percent of `block_rows`."""
    import polars as pl

    found = []
    for (split, target), of_target in blocks.group_by("split", "target", maintain_order=True):
        measured = of_target["measured_seconds"].to_numpy()
        for name in predictors:
            relative = np.abs(of_target[name].to_numpy() / measured - 1.0)
            figures = {
                "mape_percent": percent(relative.mean()),
                "p90_percent": percent(np.quantile(relative, 0.9)),
                "max_percent": percent(relative.max()),
            }
            found.append({"split": split, "target": target, "predictor": name, "blocks": len(relative), **figures})
    return pl.DataFrame(found)
