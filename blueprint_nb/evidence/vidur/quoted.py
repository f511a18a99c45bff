"""Lines of a CSV file in which quotation marks may hold commas and line ends together, read by Python's own parser."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

import numpy as np

from .cells import BLANKS
from .refusals import refusal
from .rows import MOST_COLUMNS, Rows, misfit, too_wide

__all__ = ["QuotedLines"]


_LONGEST_LINE_BYTES: Final = 10**7
"""A row becomes a list of its cells before they can be counted."""


class QuotedLines:
    """The first row of `text` that is not blank as `header`; the others as `rows`, which can be asked for once."""

    def __init__(self, file: str, text: bytes) -> None:
        self._file = file
        self._filled = self._read(text)

    @cached_property
    def header(self) -> list[str]:
        """Cells of the header; none where all lines are blank."""
        header = next(self._filled, (0, []))[1]
        if len(header) > MOST_COLUMNS:
            raise too_wide(self._file, len(header))
        return header

    def rows(self, wanted: Sequence[int]) -> Rows:
        """The cells of the `wanted` columns. Raises where a line has not as many cells as the header."""
        import polars as pl

        width = len(self.header)
        lines: list[int] = []
        cells: list[str] = []
        for line, row in self._filled:
            if len(row) != width:
                is_last = next(self._filled, None) is None
                raise misfit(self._file, line, cells=len(row), width=width, is_last=is_last)
            lines.append(line)
            cells.extend([row[index] for index in wanted])
        columns = [cells[place :: len(wanted)] for place in range(len(wanted))]
        return Rows(np.array(lines, np.int64), [pl.Series(column, dtype=pl.String) for column in columns])

    def _read(self, text: bytes) -> Iterator[tuple[int, list[str]]]:
        """Each row that is not blank, and the line on which it starts."""
        reader = csv.reader(self._lines(text), strict=True)
        start = 1
        try:
            for cells in reader:
                if len(cells) > 1 or (cells and cells[0].strip(BLANKS)):
                    yield start, cells
                start = reader.line_num + 1
        except csv.Error as error:
            raise refusal(self._file, f"can't be read as CSV: {error}", line=start) from None

    def _lines(self, text: bytes) -> Iterator[str]:
        for number, line in enumerate(io.BytesIO(text), 1):
            if len(line) > _LONGEST_LINE_BYTES:
                raise refusal(self._file, f"must have at most {_LONGEST_LINE_BYTES:,} bytes", line=number)
            yield line.decode()
