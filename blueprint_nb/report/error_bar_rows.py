"""A case's errors as the rows that its bars are drawn from."""

from __future__ import annotations

from typing import Any

from ..units import NO_FIGURE
from .error_axes import GAP
from .error_marks import FULL_PERCENT, cut
from .error_rows import CaseErrors, ErrorCell, ErrorRow
from .error_words import FLAGGED, OUTSIDE
from .theme import Table


def row_names(errors: CaseErrors) -> list[str]:
    """Components in plan order, a gap, and the subtotal."""
    return [*(row_name(row) for row in errors.rows), GAP, row_name(errors.subtotal)]


def row_name(row: ErrorRow) -> str:
    """A component's name on the axis."""
    return row.component if row.in_block else row.component + OUTSIDE


def bar_rows(errors: CaseErrors) -> Table:
    """A row for each component, and the subtotal, in each mode that has an error."""
    named = [*errors.rows, errors.subtotal]
    return [
        _bar(row, cell, cell.error_percent) for row in named for cell in row.cells if cell.error_percent is not None
    ]


def uncovered_rows(errors: CaseErrors) -> Table:
    """A row for each component without a measurement: the words in the place of its bars."""
    return [
        {
            "row": row_name(row),
            "words": f"{row.reference}: {row.kind}",
            "estimate": " · ".join(f"{cell.estimate} ({cell.mode})" for cell in row.cells),
            "why": row.words,
        }
        for row in errors.rows
        if row.state == "not-covered"
    ]


def direct_labels(errors: CaseErrors) -> Table:
    """The modes' names in the first row that has room, and which error is flagged: beyond zero, off the bar."""
    drawn = [row for row in errors.rows if row.state != "not-covered"]
    plain = next((row for row in drawn if row.state == "matched"), None)
    labels = [] if plain is None else [_label(plain, cell, cell.mode) for cell in plain.cells]
    for row in drawn:
        if row.state == "flagged":
            labels += [_label(row, cell, FLAGGED) for cell in row.cells]
    return labels


def _bar(row: ErrorRow, cell: ErrorCell, percent: float) -> dict[str, Any]:
    end = cut(percent)
    low, high = (end, end) if cell.ends_percent is None else (cut(end) for end in cell.ends_percent)
    return {
        "row": row_name(row),
        "mode": cell.mode,
        "end": end,
        "low": low,
        "high": high,
        "number_at": min(end, low) if end < 0 else max(end, high),
        "band": band_words(cell.band, cell.in_band),
        "is_cut": percent > FULL_PERCENT,
        "is_flagged": row.state == "flagged",
        "error": cell.error,
        "estimate": cell.estimate,
        "reference": row.reference,
        "words": row.said or "one row",
    }


def band_words(band: str, in_band: bool | None) -> str:
    """22.1–30.4 µs, measured within; a dash in a mode without bands."""
    if not band:
        return NO_FIGURE
    return band if in_band is None else f"{band}, measured {'within' if in_band else 'outside'}"


def _label(row: ErrorRow, cell: ErrorCell, label: str) -> dict[str, Any]:
    return {"row": row_name(row), "mode": cell.mode, "label": label, "is_right": (cell.error_percent or 0.0) < 0}
