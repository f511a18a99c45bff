"""Rows of a CSV file, whichever way it was split into cells, and how lines that do not fit are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from numpy.typing import NDArray

from ...errors import ProfileError
from .refusals import refusal

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

__all__ = ["MOST_COLUMNS", "Rows", "misfit", "too_wide"]

MOST_COLUMNS: Final = 10_000
"""Published files have 32 to 58; a header with more than this is some other text with commas."""


class Rows(NamedTuple):
    """What stands below the header."""

    lines: NDArray[np.int64]
    """The line of the file on which each row starts, the first being 1."""
    texts: list[pl.Series]
    """The cells of each column asked for, as text; an empty cell is an empty text."""


def misfit(file: str, line: int, *, cells: int, width: int, is_last: bool) -> ProfileError:
    """The error for a line that has not as many cells as the header."""
    next_step = "Mend or restore the file."
    if is_last and cells < width:
        next_step = f"It is the last line, so the file looks cut off. {next_step}"
    return refusal(
        file, f"must have {_cells(width)}, as the header does", line=line, got=_cells(cells), next_step=next_step
    )


def too_wide(file: str, cells: int) -> ProfileError:
    """The error for a header that is none."""
    return refusal(
        file,
        f"must have at most {MOST_COLUMNS:,} columns",
        got=f"{cells:,}",
        next_step="Check that it is a Vidur profile.",
    )


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count:,} cells"
