"""A file's lines and the names of its columns, with what is not a file of its kind refused."""

from __future__ import annotations

from .columns import FileKind
from .header import check_header, check_separator
from .plain import PlainLines
from .quoted import QuotedLines
from .source import Source

__all__ = ["opened"]


def opened(source: Source, kind: FileKind) -> tuple[PlainLines | QuotedLines, tuple[str, ...]]:
    """The lines, and the columns without the spaces around them. Raises `ProfileError`."""
    file, text = source.file, source.text
    check_separator(file, text, kind)
    lines = QuotedLines(file, text) if b'"' in text else PlainLines(file, text)
    columns = tuple(name.strip() for name in lines.header)
    check_header(file, columns, kind)
    return lines, columns
