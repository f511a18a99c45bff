"""IRs as a person reads them: aligned columns, thousands separated."""

from __future__ import annotations

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]], numeric_from: int = 1, indent: str = "  ") -> str:
    """Rows as aligned text; columns from `numeric_from` on are right-aligned."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = (
            cell.rjust(width) if index >= numeric_from else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def short(digest: str) -> str:
    """The first characters of a digest."""
    return f"{digest[:12]}…"
