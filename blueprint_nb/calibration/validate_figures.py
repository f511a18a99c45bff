"""Errors of held-out rows, of each predictor side by side: over all components, by family, by octave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .errors import Judged, error_figures

if TYPE_CHECKING:
    import polars as pl

TIMER_SECONDS: Final = 1e-6
"""Of the profiler."""

ALL: Final = "all"
"""Stands for every family together."""


def errors(rows: pl.DataFrame, predictors: Sequence[str]) -> pl.DataFrame:
    """For each split, target, family (and `ALL`) and predictor that was asked there: rows, mape_percent,
    balanced_mape_percent, p90_percent, max_percent, as `ErrorFigures` says them.
    """
    import polars as pl

    found = []
    for (split, target), of_target in rows.group_by("split", "target", maintain_order=True):
        for family, of_family in by_family(of_target):
            for name in asked(of_family, predictors):
                figures = error_figures(judged(of_family, name)).model_dump()
                found.append({"split": split, "target": target, "family": family, "predictor": name, **figures})
    return pl.DataFrame(found)


def octaves(rows: pl.DataFrame, predictors: Sequence[str]) -> pl.DataFrame:
    """For each split, target, family (and `ALL`), octave of size and predictor: rows and mape_percent.

    Over all families the mean is over components, each counting the same. Families are in the order of `rows`.
    """
    import polars as pl

    order = pl.Enum([ALL, *rows["family"].unique(maintain_order=True)])
    keys = ["split", "target", "family", "octave"]
    relative = [(100.0 * (pl.col(name) / pl.col("measured_seconds") - 1.0).abs()).alias(name) for name in predictors]
    rows = rows.select(*keys, "component", *relative)
    means = [pl.len().cast(pl.Int64).alias("rows"), pl.col(predictors).mean()]
    of_families = rows.group_by(keys).agg(means)
    of_components = rows.group_by("split", "target", "octave", "component").agg(means)
    together = of_components.group_by("split", "target", "octave").agg(pl.col("rows").sum(), pl.col(predictors).mean())
    together = together.with_columns(family=pl.lit(ALL)).select(of_families.columns)
    wide = pl.concat([together, of_families])
    long = wide.unpivot(predictors, index=[*keys, "rows"], variable_name="predictor", value_name="mape_percent")
    long = long.drop_nulls("mape_percent")
    return long.sort("split", "target", pl.col("family").cast(order), "octave", "predictor")


def worst(rows: pl.DataFrame, count: int, predictor: str = "calibrated") -> pl.DataFrame:
    """The `count` rows with the largest error (error_percent, signed), the largest first; rows within 1 µs pass.

    Of a kernel that every TP repeats, the row with the largest error stands for all.
    """
    import polars as pl

    difference = pl.col(predictor) - pl.col("measured_seconds")
    found = rows.with_columns(error_percent=100.0 * difference / pl.col("measured_seconds"))
    found = found.filter(difference.abs() > TIMER_SECONDS).sort(pl.col("error_percent").abs(), descending=True)
    kernel = ["split", "target", "component", "model", "size", predictor]
    return found.unique(kernel, keep="first", maintain_order=True).head(count)


def asked(rows: pl.DataFrame, predictors: Sequence[str]) -> list[str]:
    """Those of the `predictors` that say something of each of the rows."""
    return [name for name in predictors if not rows[name].null_count()]


def judged(rows: pl.DataFrame, predictor: str, part: Any = 0) -> Judged:
    """What a predictor says of rows; components are the groups."""
    _, group = np.unique(rows["component"].to_numpy(), return_inverse=True)
    return Judged(
        rows["measured_seconds"].to_numpy(),
        rows[predictor].to_numpy(),
        group.astype(np.int64),
        rows["size"].to_numpy(),
        part,
        rows["doublings"].to_numpy(),
    )


def by_family(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """`ALL` rows, then those of each family."""
    yield ALL, rows
    for (family,), of_family in rows.group_by("family", maintain_order=True):
        yield str(family), of_family
