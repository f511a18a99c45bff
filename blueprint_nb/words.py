"""Many names in a sentence: the first few, and how many more."""

from __future__ import annotations

from collections.abc import Sequence


def few(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """ "rope, add and 4 more": at most `most` of the names, all where there are no more."""
    more = len(names) - most
    return separator.join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
