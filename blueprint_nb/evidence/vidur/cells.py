"""Cells as numbers, a column at a time: plain decimal notation, with or without spaces around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

__all__ = ["BLANKS", "numbers"]

BLANKS: Final = " \t"
"""What may stand around a cell without being part of it."""


def numbers(text: pl.Series) -> NDArray[np.float64]:
    """The nearest float of each cell; NaN where a cell is empty or holds no number."""
    import polars as pl

    values = text.cast(pl.Float64, strict=False)
    if values.null_count():
        values = values.zip_with(values.is_not_null(), text.str.strip_chars(BLANKS).cast(pl.Float64, strict=False))
    return values.fill_null(np.nan).to_numpy()
