"""Key cells: what was measured. A row whose key can't be read can't be placed, so that the file is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ...errors import shown
from .cells import BLANKS, numbers
from .columns import Key
from .refusals import refusal

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FALSE_WORDS", "TRUE_WORDS", "key_values"]

_LARGEST: Final = 10**12
"""As in the front door. Below 2^53, so that a count written as a float is exact."""

_FRACTION: Final = rf"\.\d*[1-9]\d*[{BLANKS}]*$"
"""A fraction, though it may be lost on a float: 4.00000000000000001."""

TRUE_WORDS: Final = ("true", "1", "1.0")
FALSE_WORDS: Final = ("false", "0", "0.0")


def key_values(file: str, lines: NDArray[np.int64], key: Key, text: pl.Series) -> NDArray[Any]:
    """The cells of one column, read-only. Raises `ProfileError` for the first that breaks the rule of its key."""
    values, good, rule = _READERS[key.kind](text)
    if not good.all():
        row = int(np.argmin(good))
        raise refusal(
            file,
            f"must be {rule}",
            line=int(lines[row]),
            column=key.name,
            got=shown(text[row]),
            next_step="Mend the cell, or leave the line out.",
        )
    values.flags.writeable = False
    return values


def _count(text: pl.Series) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    return _integers(text, 1)


def _index(text: pl.Series) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    return _integers(text, 0)


def _integers(text: pl.Series, smallest: int) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    values = numbers(text)
    good = (values >= smallest) & (values <= _LARGEST) & (values == np.floor(values))
    good &= ~text.str.contains(_FRACTION).to_numpy()
    return np.where(good, values, 0).astype(np.int64), good, f"an integer from {smallest} to {_LARGEST:,}"


def _flag(text: pl.Series) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    word = text.str.strip_chars(BLANKS).str.to_lowercase()
    true = word.is_in(TRUE_WORDS).to_numpy()
    return true.astype(np.int64), true | word.is_in(FALSE_WORDS).to_numpy(), "true or false"


def _backend(text: pl.Series) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    name = text.str.replace(r"(?s)^.*\.", "").str.strip_chars(BLANKS)
    return np.array(name.to_list(), dtype=object), (name != "").to_numpy(), "the name of an attention backend"


_READERS: Final = {"count": _count, "index": _index, "flag": _flag, "backend": _backend}
