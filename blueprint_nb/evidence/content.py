"""The digest of an observation table's content: the same for the same rows, whatever wrote or stored them.

A Parquet file's bytes depend on the library's version and compression. What is hashed here is columns: for each its
name, which rows hold a value, and the values in a fixed form (UTF-8 with lengths, 64-bit integers and floats, little
end first).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .observations import COLUMNS

if TYPE_CHECKING:
    import polars as pl

__all__ = ["content_digest"]


def content_digest(frame: pl.DataFrame) -> str:
    """SHA-256 of the rows of a checked observation table, in their order, as hexadecimal."""
    digest = hashlib.sha256(str(len(frame)).encode())
    for column in COLUMNS:
        digest.update(f"\n{column.name}:{column.dtype}\n".encode())
        for content in _content(frame[column.name], column.dtype):
            digest.update(content)
    return digest.hexdigest()


def _content(values: pl.Series, dtype: str) -> Iterator[bytes]:
    if dtype == "text":
        yield values.str.len_bytes().to_numpy().astype("<i8").tobytes()
        yield "".join(values.to_list()).encode()
        return
    yield np.packbits(values.is_not_null().to_numpy()).tobytes()
    # Adding 0.0 leaves no negative zero, which equals zero and would be another digest.
    filled = values.fill_null(0).to_numpy()
    yield (filled.astype("<i8") if dtype == "count" else filled.astype("<f8") + 0.0).tobytes()
