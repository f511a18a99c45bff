"""Held-out kernels beside what each predictor says of them: one row a cell of the source.

A cell is a component of a model at one TP and one size; where the source timed it more than once it is the median. So
a shape that every TP repeats, such as that of a norm, counts as often as the source has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ..cost.expected_error import doublings_outside
from ..cost.families import Family
from ..cost.octaves import octave_of
from .observed import samples_of
from .predict import Predictor, Training, everything
from .sample import Sample
from .study import Part, names, of, ranges

if TYPE_CHECKING:
    import polars as pl

CELL: Final = ("target", "datatype", "family", "component", "model", "tensor_parallel")
"""What a row is of, besides its shape."""


def held_out_rows(family: Family, part: Part, predictors: Sequence[Predictor]) -> pl.DataFrame:
    """Rows of what a part holds out; none where it leaves nothing to learn from.

    Columns: held_out, those of `CELL`, the family's dimensions, size (along its own dimension), octave (of it),
    measured_seconds and one for each predictor by its name (s), doublings (outside the range that was learned from,
    over all dimensions).
    """
    import polars as pl

    held_out, train, test = part
    if not len(train) or not len(test):
        return pl.DataFrame()
    training = {target: list(samples_of(of(train, "target", target), family)) for target in names(train, "target")}
    learned = [(one.name, one.learned(family, training)) for one in predictors]
    keys = [*CELL, *family.dimensions]
    cells = test.group_by(keys).agg(pl.col("seconds").median().alias("measured_seconds")).sort(keys)
    parts = []
    for (target, _), rows in cells.group_by("target", "datatype", maintain_order=True):
        (sample,) = samples_of(test.join(rows, on=keys, how="semi", nulls_equal=True), family)
        priced = {name: pricing(str(target), sample) for name, pricing in learned}
        outside = doublings_outside(ranges(_seen(training, str(target)), family), sample.shape)
        columns = {**sample.shape, **priced, "doublings": np.broadcast_to(outside, len(sample)).astype(np.float64)}
        shapes = pl.DataFrame(columns).unique(family.dimensions, maintain_order=True)
        parts.append(rows.join(shapes, on=family.dimensions, how="left", maintain_order="left"))
    found = pl.concat(parts)
    size = found[family.size]
    place = [pl.lit(held_out).alias("held_out"), size.alias("size"), pl.Series("octave", octave_of(size.to_numpy()))]
    return found.with_columns(place)


def _seen(training: Training, target: str) -> Sequence[Sample]:
    return training.get(target) or everything(training)
