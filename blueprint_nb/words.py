"""Many things in a sentence: how many they are, or the first few by name and how many more."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, noun: str) -> str:
    """ "1 wave", "4,096 waves"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def few(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """ "rope, add and 4 more": at most `most` of the names, all where there are no more."""
    more = len(names) - most
    return separator.join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
