"""A calibration as text: how far off each family is, on what it was fitted to and on what it never saw."""

from __future__ import annotations

from ..cost.calibration import CalibrationSet, ErrorFigures
from ..units import NO_FIGURE, three_digits
from .tables import Column, table, wrapped

_FIGURES = ("mape_percent", "balanced_mape_percent", "p90_percent")
_NAMES = ("MAPE", "balanced", "P90")


def calibration_text(one: CalibrationSet) -> str:
    """A row for each family: errors in percent, in sample and held out."""
    fits = list(one.families.values())
    in_sample = [fitted.in_sample for fitted in fits]
    held_out = [next(iter(fitted.held_out.values()), None) for fitted in fits]
    columns = [
        Column("family", list(one.families), align="left"),
        Column("rows", [f"{figures.rows:,}" for figures in in_sample]),
        *_columns("in sample", in_sample),
        *_columns("held out", held_out),
    ]
    splits = "; ".join(dict.fromkeys(split for fitted in fits for split in list(fitted.held_out)[:1]))
    of_what = ", ".join(one.systems) or "any device"
    title = f"{one.name} for {of_what}: error of single kernels in %"
    note = f"Held out: {splits or 'nothing'}. Balanced: over octaves of size and components."
    return f"{title}\n{table(columns)}\n{wrapped(note)}"


def _columns(when: str, figures: list[ErrorFigures | None] | list[ErrorFigures]) -> list[Column]:
    columns = []
    for field, name in zip(_FIGURES, _NAMES, strict=True):
        cells = [NO_FIGURE if one is None else three_digits(getattr(one, field)) for one in figures]
        columns.append(Column(f"{when} {name}" if field == _FIGURES[0] else name, cells))
    return columns
