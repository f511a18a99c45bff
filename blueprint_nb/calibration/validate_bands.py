"""Bands as an estimate would have got them, had its own part never been measured; and how often they hold.

The band of a row comes from the residuals of the other parts of its split: of other models on its device, and on other
devices where the study joins them, or of other devices alone where its device was held out. It is widened as those
residuals ask for, and outside the range that was learned from. Sums over a block take the correlation that the other
parts had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..cost.bands import Deviation, band_of_sum
from ..cost.expected_error import Spread
from .predict_calibrated import CALIBRATED
from .residuals import correlation, held_out_residuals
from .validate_blocks import BLOCK, STEP
from .validate_figures import by_family, judged

if TYPE_CHECKING:
    import polars as pl

SUBTOTAL: Final = "block subtotal"
"""Stands in the place of a family."""


def banded(rows: pl.DataFrame, *, joins_residuals: bool = False) -> pl.DataFrame:
    """`rows` of one family and split with low_seconds and high_seconds, and correlation, of `CALIBRATED`.

    All three are null where nothing else was held out. For `joins_residuals` see `Study`.
    """
    import polars as pl

    parts = []
    for (held_out, target), own in rows.group_by("held_out", "target", maintain_order=True):
        others = rows.filter(pl.col("held_out") != held_out)
        is_alike = pl.col("target") == target
        alike, further = others.filter(is_alike), others.filter(~is_alike)
        if not len(alike):
            alike, further = others, others.clear()
        parts.append(_with_band(own, alike, further if joins_residuals else further.clear()))
    return pl.concat(parts)


def block_bands(rows: pl.DataFrame, blocks: pl.DataFrame) -> pl.DataFrame:
    """`blocks` (see `block_rows`) with low_seconds and high_seconds of the sum; without those of rows without."""
    import polars as pl

    in_block = rows.filter(pl.col("component").is_in(BLOCK), pl.col("low_seconds").is_not_null())
    wanted = in_block.join(blocks.select(STEP), on=STEP, how="semi", nulls_equal=True).sort(*STEP, "component")
    groups = wanted.group_by("split", "held_out", "target", "datatype", "model", maintain_order=True)
    found = [_summed(of_model) for _, of_model in groups]
    if not found:
        return blocks.clear().with_columns(low_seconds=pl.lit(0.0), high_seconds=pl.lit(0.0))
    return blocks.join(pl.concat(found), on=STEP, nulls_equal=True)


def coverage(rows: pl.DataFrame, blocks: pl.DataFrame) -> pl.DataFrame:
    """For each split, target and family (`ALL` of them, and `SUBTOTAL`): rows, covered_percent and width_percent.

    Width is the mean of (high − low) / estimate. Rows and blocks without a band are left out.
    """
    import polars as pl

    found = []
    with_band = rows.filter(pl.col("low_seconds").is_not_null())
    for (split, target), of_target in with_band.group_by("split", "target", maintain_order=True):
        own_blocks = blocks.filter(pl.col("split") == split, pl.col("target") == target)
        parts = [*by_family(of_target), *([(SUBTOTAL, own_blocks)] if len(own_blocks) else [])]
        found += [{"split": split, "target": target, "family": name, **_held(part)} for name, part in parts]
    texts = dict.fromkeys(("split", "target", "family"), pl.String())
    numbers = dict.fromkeys(("covered_percent", "width_percent"), pl.Float64())
    return pl.DataFrame(found, schema={**texts, "rows": pl.Int64(), **numbers})


def _with_band(own: pl.DataFrame, alike: pl.DataFrame, further: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    if not len(alike):
        names = ("low_seconds", "high_seconds", "correlation")
        return own.with_columns(pl.lit(None, dtype=pl.Float64).alias(name) for name in names)
    parts = {name: number for number, name in enumerate(pl.concat([alike, further])["held_out"].unique().sort())}
    devices = [rows for _, rows in further.group_by("target", maintain_order=True)]
    known, *others = (
        judged(rows, CALIBRATED, rows["held_out"].replace_strict(parts).to_numpy()) for rows in (alike, *devices)
    )
    found = held_out_residuals(known, others=others)
    size, seconds, doublings = (own[name].to_numpy() for name in ("size", CALIBRATED, "doublings"))
    band = Spread.of(found.octaves).band(size, seconds, doublings, borrowed=False)
    return own.with_columns(
        pl.Series("low_seconds", band.low_seconds),
        pl.Series("high_seconds", band.high_seconds),
        pl.lit(_correlation(alike)).alias("correlation"),
    )


def _correlation(others: pl.DataFrame) -> float:
    """Of the errors of different components in one step of rows that were held out."""
    import polars as pl

    step = pl.struct("held_out", "target", "datatype", "model", "tensor_parallel", "size").rank("dense")
    residual = (pl.col("measured_seconds") / pl.col(CALIBRATED)).log()
    return correlation(others.select(step.alias("step"), "component", "octave", residual.alias("residual")))


def _summed(of_model: pl.DataFrame) -> pl.DataFrame:
    """Bands of the steps of one model; every step has the same components."""
    import polars as pl

    parts = [part for _, part in of_model.group_by("component", maintain_order=True)]
    seconds = sum(part[CALIBRATED].to_numpy() for part in parts)
    band = band_of_sum(seconds, map(_deviation, parts))
    bounds = pl.DataFrame({"low_seconds": band.low_seconds, "high_seconds": band.high_seconds})
    return pl.concat([parts[0].select(STEP), bounds], how="horizontal")


def _deviation(part: pl.DataFrame) -> Deviation:
    seconds = part[CALIBRATED].to_numpy()
    return Deviation(
        family=str(part["family"][0]),
        correlation=float(part["correlation"][0]),
        below_seconds=seconds - part["low_seconds"].to_numpy(),
        above_seconds=part["high_seconds"].to_numpy() - seconds,
    )


def _held(rows: pl.DataFrame) -> dict[str, Any]:
    measured, low, high, estimate = (
        rows[name].to_numpy() for name in ("measured_seconds", "low_seconds", "high_seconds", CALIBRATED)
    )
    return {
        "rows": len(rows),
        "covered_percent": 100.0 * float(np.mean((measured >= low) & (measured <= high))),
        "width_percent": 100.0 * float(np.mean((high - low) / estimate)),
    }
