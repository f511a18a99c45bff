"""Whose measurements they are: one shape differs by 10–20 % between software stacks, so sources never mix unsaid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..errors import InvalidInputError
from ..words import few
from .observations import SOURCE_KEY

if TYPE_CHECKING:
    import polars as pl

__all__ = ["one_source", "source_keys"]

_MOST_SHOWN: Final = 4


def source_keys(frame: pl.DataFrame) -> list[tuple[str, ...]]:
    """The distinct (source, source_revision, software, software_version) of an observation table, sorted."""
    return sorted(frame.select(SOURCE_KEY).unique().rows())


def one_source(frame: pl.DataFrame, *, pooled: bool = False) -> pl.DataFrame:
    """`frame`, if its rows may be taken together: they are of one source key, or are `pooled` on purpose.

    Raises `InvalidInputError` that names the sources. Whoever takes medians or fits over observations asks here first.
    """
    keys = source_keys(frame)
    if pooled or len(keys) <= 1:
        return frame
    raise InvalidInputError(
        "observations",
        rule="must be of one source to be taken as one",
        got=few([*map(_in_words, keys)], _MOST_SHOWN, "; "),
        next_step=f"Filter them by {', '.join(SOURCE_KEY)}, or say pooled=True.",
    )


def _in_words(key: tuple[str, ...]) -> str:
    source, revision, software, version = key
    return f"{software} {version or 'of no version'} from {source} {revision}"
