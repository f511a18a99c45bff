"""Where a step takes less time though there is more to do: a fault of step curves, which must not pass unmarked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_MAPPING = ("tensor_parallel", "pipeline_parallel")
_WORK = ("batch_size", "context_tokens")


def falling_points(frame: pl.DataFrame) -> pl.DataFrame:
    """The feasible points of a sweep that are faster than the next smaller batch or the next shorter context.

    `frame` is what `sweep_points` gives; the rows keep their order and columns.
    """
    import polars as pl

    points = frame.with_row_index("point").filter(pl.col("feasible"))
    falling = []
    for grows, stays in (_WORK, _WORK[::-1]):
        over = (*_MAPPING, stays)
        ordered = points.sort(grows, maintain_order=True)
        falls = (pl.col("seconds").diff().over(over) < 0) & (pl.col(grows).diff().over(over) > 0)
        falling.append(ordered.filter(falls)["point"])
    return frame[pl.concat(falling).unique().sort()]
