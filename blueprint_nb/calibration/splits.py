"""Splits that do not leak: what is held out shares no weight shape with what is fitted to.

Models share shapes (Llama-2-70b, CodeLlama-34b and Qwen-72B have the same attention width), so leaving a model out
also drops every row whose weights or row width occur in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

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
