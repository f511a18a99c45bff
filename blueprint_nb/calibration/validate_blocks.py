"""Held-out kernels added up to blocks: in a sum errors cancel, so it stands beside the errors of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ..evidence.vidur import KINDS
from .errors import percent
from .validate_figures import asked

if TYPE_CHECKING:
    import polars as pl

_OUTSIDE: Final = ("emb",)
"""Timed in a file of Vidur's blocks, but no part of a block: the embedding runs once."""

BLOCK: Final = tuple(name for name in KINDS["compute"].operators if name not in _OUTSIDE)
"""Components whose sum is a block's subtotal. Its attention is timed in another file, at other steps."""

_OPTIONAL: Final = ("post_attention_layernorm", "attn_rope")
"""Of a block, that some models go without."""

_NEEDED: Final = [name for name in BLOCK if name not in _OPTIONAL]

STEP: Final = ("split", "held_out", "target", "datatype", "model", "tensor_parallel", "size")
"""What a block is of."""


def block_rows(rows: pl.DataFrame, predictors: Sequence[str]) -> pl.DataFrame:
    """Sums over the `BLOCK` components of each step that has all of its model's: measured_seconds and predictors (s).

    No block where a model lacks one that every block has, as where families were left out.
    """
    import polars as pl

    in_block = rows.filter(pl.col("component").is_in(BLOCK))
    names = pl.col("component").unique()
    whole = in_block.group_by("target", "model").agg(
        names.len().alias("components"), names.filter(names.is_in(_NEEDED)).len().alias("needed")
    )
    sums = [pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name) for name in predictors]
    summed = in_block.group_by(STEP).agg(pl.len(), pl.col("measured_seconds").sum(), *sums)
    kept = summed.join(whole.filter(pl.col("needed") == len(_NEEDED)), on=["target", "model"])
    return kept.filter(pl.col("len") == pl.col("components")).drop("len", "components", "needed").sort(STEP)


def subtotals(blocks: pl.DataFrame, predictors: Sequence[str]) -> pl.DataFrame:
    """For each split, target and predictor: blocks, mape_percent, p90_percent and max_percent of `block_rows`."""
    import polars as pl

    found = []
    for (split, target), of_target in blocks.group_by("split", "target", maintain_order=True):
        measured = of_target["measured_seconds"].to_numpy()
        for name in asked(of_target, predictors):
            relative = np.abs(of_target[name].to_numpy() / measured - 1.0)
            figures = {
                "mape_percent": percent(relative.mean()),
                "p90_percent": percent(np.quantile(relative, 0.9)),
                "max_percent": percent(relative.max()),
            }
            found.append({"split": split, "target": target, "predictor": name, "blocks": len(relative), **figures})
    return pl.DataFrame(found)
