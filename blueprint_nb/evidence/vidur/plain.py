"""Lines of a CSV file that holds no quotation mark: each comma parts two cells.

polars fills short lines up in silence, so the commas of each line are counted here, before it parses anything. Blank
lines are skipped, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from .cells import BLANKS
from .refusals import refusal
from .rows import MOST_COLUMNS, Rows, misfit, too_wide

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PlainLines"]

_NEWLINE: Final = ord("\n")
_COMMA: Final = ord(",")
_CHUNK_BYTES: Final = 2**24


class PlainLines:
    """The lines of `text`: the first that is not blank as `header`, the others as `rows`."""

    def __init__(self, file: str, text: bytes) -> None:
        self._file = file
        self._text = text
        self._ends, self._commas = _counted(text)
        self._header = int(np.argmax(self._filled)) if self._filled.any() else -1

    @cached_property
    def header(self) -> list[str]:
        """Cells of the header; none where all lines are blank."""
        if self._header < 0:
            return []
        if self._commas[self._header] >= MOST_COLUMNS:
            raise too_wide(self._file, int(self._commas[self._header]) + 1)
        return self._line(self._header).decode().split(",")

    def rows(self, wanted: Sequence[int]) -> Rows:
        """The cells of the `wanted` columns, which ascend. Raises where a line has not as many cells as the header."""
        kept = self._filled.copy()
        kept[self._header] = False
        rows = np.flatnonzero(kept)
        self._check_width(rows)
        texts = self._parsed(kept, wanted)
        if any(len(text) != len(rows) for text in texts):
            raise refusal(self._file, "can't be read as CSV: polars finds other lines in it")
        return Rows(rows + 1, texts)

    @cached_property
    def _filled(self) -> NDArray[np.bool_]:
        """Which lines are not blank."""
        starts = self._starts
        filled = self._ends > starts
        for index in np.flatnonzero(filled & (self._commas == 0)).tolist():
            filled[index] = bool(self._line(index).strip(BLANKS.encode()))
        return filled

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.concatenate(([0], self._ends[:-1] + 1))

    def _line(self, index: int) -> bytes:
        return self._text[self._starts[index] : self._ends[index]]

    def _check_width(self, rows: NDArray[np.int64]) -> None:
        width = len(self.header)
        wrong = rows[self._commas[rows] != width - 1]
        if len(wrong):
            index = int(wrong[0])
            raise misfit(
                self._file, index + 1, cells=int(self._commas[index]) + 1, width=width, is_last=index == rows[-1]
            )

    def _parsed(self, kept: NDArray[np.bool_], wanted: Sequence[int]) -> list[pl.Series]:
        import polars as pl

        if not kept.any():
            return [pl.Series([], dtype=pl.String) for _ in wanted]
        # polars takes a text that starts with "x^" for a compressed one: a line of our own stands before it.
        content = b"".join((b"-\n", self._body(kept)))
        frame = pl.read_csv(
            content, has_header=False, skip_lines=1, columns=list(wanted), infer_schema=False, quote_char=None
        )
        return [frame[name].fill_null("") for name in frame.columns]

    def _body(self, kept: NDArray[np.bool_]) -> Any:
        """The text of the lines that are `kept`."""
        first, last = np.flatnonzero(kept)[[0, -1]]
        body = slice(int(self._starts[first]), int(self._ends[last]) + 1)
        if kept[first : last + 1].all():
            return memoryview(self._text)[body]
        lengths = (self._ends - self._starts + 1)[first : last + 1]
        mask = np.repeat(kept[first : last + 1], lengths)
        return np.frombuffer(self._text, np.uint8)[body][mask].tobytes()


def _counted(text: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each line ends, and how many commas it has. By chunks, for the masks are as large as the text."""
    content = np.frombuffer(text, np.uint8)
    ends: list[NDArray[np.int64]] = []
    commas_before: list[NDArray[np.int64]] = []
    seen = 0
    for start in range(0, len(content), _CHUNK_BYTES):
        chunk = content[start : start + _CHUNK_BYTES]
        newlines = np.flatnonzero(chunk == _NEWLINE)
        commas = np.flatnonzero(chunk == _COMMA)
        ends.append(newlines + start)
        commas_before.append(np.searchsorted(commas, newlines) + seen)
        seen += len(commas)
    total = np.concatenate(commas_before)
    total[1:] -= total[:-1].copy()
    return np.concatenate(ends), total
