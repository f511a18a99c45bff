"""Splits that do not leak: what is held out shares no weight shape with what is fitted to.

Models share shapes (Llama-2-70b, CodeLlama-34b and Qwen-72B have the same attention width), so leaving a model out
also drops every row whose weights or row width occur in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import polars as pl

_SHARED: Final = {"gemm": ("n", "k")}
"""Family to the dimensions that a model fixes; the row width for those that go row by row."""

_BY_DEFAULT: Final = ("width",)


def leave_one_model_out(observations: pl.DataFrame, family: str) -> Iterator[tuple[str, pl.DataFrame, pl.DataFrame]]:
    """(model, rows to fit to, rows held out) for each model of one family's observations, sorted by name."""
    import polars as pl

    shared = list(_SHARED.get(family, _BY_DEFAULT))
    for model in observations["model"].unique().sort().to_list():
        held_out = observations.filter(pl.col("model") == model)
        others = observations.filter(pl.col("model") != model)
        yield model, others.join(held_out.select(shared).unique(), on=shared, how="anti"), held_out


def leave_one_hidden_size_out(
    observations: pl.DataFrame, family: str, norms: pl.DataFrame
) -> Iterator[tuple[str, pl.DataFrame, pl.DataFrame]]:
    """The same for each hidden size, which is the width of a model's `norms`; models without norms are fitted to."""
    import polars as pl

    shared = list(_SHARED.get(family, _BY_DEFAULT))
    sizes = norms.group_by("model").agg(pl.col("width").max().alias("hidden_size"))
    known = observations.join(sizes, on="model", how="left")
    for size in sizes["hidden_size"].unique().sort().to_list():
        held_out = known.filter(pl.col("hidden_size") == size).drop("hidden_size")
        others = known.filter(pl.col("hidden_size").ne_missing(size)).drop("hidden_size")
        yield f"{size:,}", others.join(held_out.select(shared).unique(), on=shared, how="anti"), held_out


def folds(
    observations: pl.DataFrame, columns: Sequence[str], count: int, seed: int
) -> Iterator[tuple[str, pl.DataFrame, pl.DataFrame]]:
    """(fold, rows to fit to, rows held out): rows that agree in `columns` are of one fold, drawn by `seed`."""
    import polars as pl

    units = observations.select(columns).unique().sort(columns)
    numbers = np.random.default_rng(seed).permutation(len(units)) % count
    numbered = observations.join(units.with_columns(pl.Series("fold", numbers)), on=list(columns), how="left")
    for fold in range(min(count, len(units))):
        yield (
            f"fold {fold + 1}",
            numbered.filter(pl.col("fold") != fold).drop("fold"),
            numbered.filter(pl.col("fold") == fold).drop("fold"),
        )


def up_to(observations: pl.DataFrame, column: str, largest: int) -> Iterator[tuple[str, pl.DataFrame, pl.DataFrame]]:
    """One part: rows of at most `largest` are fitted to, larger ones held out; nothing where there are none."""
    small = observations.filter(observations[column] <= largest)
    large = observations.filter(observations[column] > largest)
    if len(small) and len(large):
        yield f"over {largest:,}", small, large


def without_value(
    observations: pl.DataFrame, column: str, value: int
) -> Iterator[tuple[str, pl.DataFrame, pl.DataFrame]]:
    """One part: rows of `value` are held out; nothing where none or all are."""
    others, held_out = (
        observations.filter(observations[column] != value),
        observations.filter(observations[column] == value),
    )
    if len(others) and len(held_out):
        yield f"{value:,}", others, held_out
