"""What parameter files record of their errors, as text: a table for each set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import polars as pl

from ..calibration.validate_recorded import IN_SAMPLE, recorded_bands, recorded_errors
from ..cost.calibration import CalibrationSet
from ..units import NO_FIGURE, format_count, three_digits
from .tables import Column, table, wrapped
from .validate_text import once

_FIGURES: Final = (
    ("MAPE", "mape_percent"),
    ("balanced", "balanced_mape_percent"),
    ("P90", "p90_percent"),
    ("max", "max_percent"),
)

_LEGEND: Final = (
    "Errors are |estimate / measured − 1|, each row counted alone. Balanced: over octaves of size and components, each "
    "counting the same. Max: of rows that are more than 1 µs off. Width: of the band, over the estimate, row by row. "
    "Held: of rows that were left out together, by the band that all others would have made."
)


def recorded_text(sets: Iterable[CalibrationSet]) -> str:
    """In sample and held out, and how wide the 90 % bands are."""
    tables = [_of_set(one) for one in sets]
    return "\n\n".join([*tables, wrapped(_LEGEND)]) if tables else "No parameter files ship with this installation."


def _of_set(one: CalibrationSet) -> str:
    rows = recorded_errors([one])
    notes = {name: f"held out [{number}]" for number, name in enumerate(_splits(rows), start=1)}
    columns = [
        Column("family", once(rows["family"].to_list()), align="left"),
        Column("", [notes.get(name, name) for name in rows["split"]], align="left"),
        Column("rows", [format_count(count) for count in rows["rows"]]),
        *(Column(name, [three_digits(value) for value in rows[column]], align="point") for name, column in _FIGURES),
    ]
    heading = f"{one.name} for {', '.join(one.systems) or 'any device'}: error in %"
    lines = [wrapped(f"[{number}] {name}", rest="    ") for number, name in enumerate(notes, start=1)]
    source = f"Fitted to {one.sources}."
    return "\n".join([wrapped(heading), table(columns), *lines, wrapped(source), *_bands(one)])


def _splits(rows: pl.DataFrame) -> list[str]:
    return [str(name) for name in rows["split"].unique(maintain_order=True) if name != IN_SAMPLE]


def _bands(one: CalibrationSet) -> list[str]:
    rows = recorded_bands([one])
    if not len(rows):
        return []
    columns = [
        Column("90 % band", rows["family"].to_list(), align="left"),
        Column("width in %", [three_digits(value) for value in rows["width_percent"]], align="point"),
        Column("held in %", [_percent(value) for value in rows["covered_percent"]], align="point"),
    ]
    return ["", table(columns)]


def _percent(value: float | None) -> str:
    return NO_FIGURE if value is None else three_digits(value)
