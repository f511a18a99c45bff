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
    kind: str = "plain",
) -> str:
    """A table of formatted cells, of class `bp-kind`.

    Columns hold numbers, aligned at the right, unless they are in `text_columns`.
    """
    kinds = ["words" if column in text_columns else "numeric" for column in range(len(headings))]
    head = "".join(
        f'<th scope="col" class="bp-{kind}">{escape(name)}</th>' for kind, name in zip(kinds, headings, strict=True)
    )
    body = "".join(_row(cells, kinds, index == marked_row) for index, cells in enumerate(rows))
    return (
        f'<table class="bp-table bp-{kind}"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _row(cells: Sequence[str], kinds: Sequence[str], marked: bool) -> str:
    mark = ' class="bp-current" aria-current="true"' if marked else ""
    tags = "".join(f'<td class="bp-{kind}">{escape(cell)}</td>' for kind, cell in zip(kinds, cells, strict=True))
    return f"<tr{mark}>{tags}</tr>"
