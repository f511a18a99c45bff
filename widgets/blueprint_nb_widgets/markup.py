"""Small pieces of HTML. Every text that goes in is escaped, because names come from profiles that anybody may write."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["escape", "span", "table"]


def span(kind: str, text: str) -> str:
    """`text` in a span of class `bp-kind`."""
    return f'<span class="bp-{kind}">{escape(text)}</span>'


def table(
    caption: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    text_columns: Sequence[int] = (0,),
    marked_row: int | None = None,
    column_names: Sequence[str] = (),
    row_notes: Sequence[str] = (),
    kind: str = "plain",
) -> str:
    """A table of formatted cells, of class `bp-kind`.

    Columns hold numbers, aligned at the right, unless they are in `text_columns`. `column_names` are for the style
    sheet; `row_notes`, one a row, show under the pointer.
    """
    named = [f" bp-of-{name}" for name in column_names] or [""] * len(headings)
    kinds = ["words" if column in text_columns else "numeric" for column in range(len(headings))]
    classes = [f"bp-{kind}{name}" for kind, name in zip(kinds, named, strict=True)]
    head = "".join(
        f'<th scope="col" class="{of}">{escape(name)}</th>' for of, name in zip(classes, headings, strict=True)
    )
    notes = row_notes or [""] * len(rows)
    body = "".join(
        _row(cells, classes, note, marked=index == marked_row)
        for index, (cells, note) in enumerate(zip(rows, notes, strict=True))
    )
    return (
        f'<table class="bp-table bp-{kind}"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _row(cells: Sequence[str], classes: Sequence[str], note: str, *, marked: bool) -> str:
    mark = ' class="bp-current" aria-current="true"' if marked else ""
    title = f' title="{escape(note)}"' if note else ""
    tags = "".join(f'<td class="{of}">{escape(cell)}</td>' for of, cell in zip(classes, cells, strict=True))
    return f"<tr{mark}{title}>{tags}</tr>"
