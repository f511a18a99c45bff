"""Tables and paragraphs for a terminal: plain text of at most 100 columns, the same when piped."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

WIDTH = 100


@dataclass(frozen=True, slots=True)
class Column:
    """A column of text. `unit` stands below the name; `point` aligns numbers on their decimal point."""

    name: str
    cells: Sequence[str]
    unit: str = ""
    align: Literal["left", "right", "point"] = "right"


def table(columns: Sequence[Column]) -> str:
    """The columns side by side, two spaces apart, under a rule."""
    return "\n".join(chain(*table_lines(columns)))


def table_lines(columns: Sequence[Column]) -> tuple[list[str], list[str]]:
    """(the head with its rule, a line for each row) of a table."""
    laid_out = [_laid_out(column) for column in columns]
    names, units, *rows = ["  ".join(cells).rstrip() for cells in zip(*laid_out, strict=True)]
    head = [names, units] if units else [names]
    return [*head, "─" * max(len(line) for line in [*head, *rows])], rows


def _laid_out(column: Column) -> list[str]:
    cells = _on_point(column.cells) if column.align == "point" else list(column.cells)
    cells = [column.name, column.unit, *cells]
    width = max(len(cell) for cell in cells)
    return [cell.ljust(width) if column.align == "left" else cell.rjust(width) for cell in cells]


def _on_point(cells: Iterable[str]) -> list[str]:
    """Numbers padded on the right, so that right-aligned they share their point."""
    parts = [cell.partition(".") for cell in cells]
    decimals = max((len(point + fraction) for _, point, fraction in parts), default=0)
    return [whole + (point + fraction).ljust(decimals) for whole, point, fraction in parts]


def filled(parts: Iterable[str], separator: str = " · ") -> str:
    """Short sentences on as few lines as they take, each whole where it can be."""
    lines: list[str] = []
    for part in parts:
        joined = f"{lines[-1]}{separator}{part}" if lines else part
        if lines and len(joined) <= WIDTH:
            lines[-1] = joined
        else:
            lines.append(part)
    return "\n".join(wrapped(line) for line in lines)


def wrapped(text: str, first: str = "", rest: str = "") -> str:
    """`text` in lines, with what comes before the first and before the others."""
    return textwrap.fill(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Names and what they are, in two columns."""
    rows = list(rows)
    width = max(len(name) for name, _ in rows) + 2
    return "\n".join(wrapped(text, name.ljust(width), " " * width) for name, text in rows)
