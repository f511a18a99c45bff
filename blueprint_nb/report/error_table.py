"""A case's errors as the table of a page: numbers, and beside each error its bar, drawn without any script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .error_bars import FULL_PERCENT, cut
from .error_rows import CaseErrors, ErrorCell, ErrorRow
from .mode_style import is_hollow

MIDDLE: Final = 100
"""Where zero is, in units of the drawing, of which there is one a percent."""


@dataclass(frozen=True, slots=True)
class Bar:
    """From zero to the error; one that would pass +100 % is cut there."""

    start: float
    length: float
    is_cut: bool


@dataclass(frozen=True, slots=True)
class TableCell:
    """A component in one mode."""

    estimate: str
    error: str
    bar: Bar | None
    is_hollow: bool


@dataclass(frozen=True, slots=True)
class TableRow:
    """A component."""

    name: str
    state: str
    reference: str
    words: str
    cells: tuple[TableCell, ...]


@dataclass(frozen=True, slots=True)
class CaseTable:
    """A case as a page shows it."""

    errors: CaseErrors
    heading: str
    rows: tuple[TableRow, ...]
    """Components in plan order."""
    subtotal: TableRow
    summary: tuple[tuple[str, tuple[str, ...]], ...]
    """(what, a text for each mode) below the subtotal."""


def case_table(errors: CaseErrors) -> CaseTable:
    """The table of a case; its name is in the heading where the title does not say it already."""
    summary = (
        ("Component MAPE, mean of the absolute errors", errors.mape),
        ("Worst component", errors.worst),
        ("Not compared, of the block's estimate", errors.excluded),
    )
    return CaseTable(
        errors=errors,
        heading=heading(errors),
        rows=tuple(_row(row, errors.modes) for row in errors.rows),
        subtotal=_row(errors.subtotal, errors.modes),
        summary=summary,
    )


def heading(errors: CaseErrors) -> str:
    """The title, after the case's name where that is no part of it: "prefill 128" says nothing more."""
    words = errors.case.replace(",", "").casefold().split()
    said = errors.title.replace(",", "").casefold().split()
    return errors.title if set(words) <= {*said, "prefill", "decode"} else f"{errors.case}: {errors.title}"


def _row(row: ErrorRow, modes: tuple[str, ...]) -> TableRow:
    words = f"flagged, not counted: {row.words}" if row.state == "flagged" else row.words
    cells = tuple(_cell(cell, mode) for cell, mode in zip(row.cells, modes, strict=True))
    return TableRow(row.component, row.state, row.reference, words, cells)


def _cell(cell: ErrorCell, mode: str) -> TableCell:
    return TableCell(cell.estimate, cell.error, _bar(cell.error_percent), is_hollow(mode))


def _bar(percent: float | None) -> Bar | None:
    if percent is None:
        return None
    end = cut(percent)
    return Bar(round(MIDDLE + min(end, 0.0), 1), round(abs(end), 1), percent > FULL_PERCENT)
