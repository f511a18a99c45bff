"""Imports parts into a database, one after the other: run by tests as processes of their own.

    python -m evidence.import_parts FOLDER FIRST COUNT

Part n has 500 rows of the file whose SHA-256 is n. Says each part's number when it is in, and waits for a line after
the first, so that whoever runs it knows that all is loaded.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from blueprint_nb.evidence import PerformanceDatabase

from .observed import observed

if TYPE_CHECKING:
    import polars as pl

ROWS = 500


def part(number: int) -> pl.DataFrame:
    """The observations of one part."""
    return observed(ROWS, seconds=[1e-6 * (row + 1) for row in range(ROWS)], file_sha256=f"{number:064x}")


def main(folder: str, first: int, count: int) -> None:
    database = PerformanceDatabase(folder)
    for number in range(first, first + count):
        database = database.add(part(number))
        print(number, flush=True)
        if number == first:
            sys.stdin.readline()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
