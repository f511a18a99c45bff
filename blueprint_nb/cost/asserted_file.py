"""Reading a user's own figures: a CSV file of family, shape and seconds, in which nothing is guessed.

The header names `family`, `seconds`, the columns of the shapes that the file's families have, and `datatype` if the
figures are of one. A row fills in its family's shape and leaves the other columns empty; without a datatype it holds
for each.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .._schema import LARGEST_COUNT
from ..errors import InvalidInputError, ProfileError, nearest, os_reason, shown
from ..workload import element_bytes
from .kernels import DIMENSIONS
from .shape_table import ANY_DATATYPE, Shape

_SHAPES: Final = tuple(dict.fromkeys(name for names in DIMENSIONS.values() for name in names))
_COLUMNS: Final = ("family", *_SHAPES, "seconds", "datatype")
_LARGEST_BYTES: Final = 10**8
_SHORTEST: Final = 1e-15
_LONGEST: Final = 1e9
"""Seconds. What is shorter or longer is a slip, and rates and sums would leave the floats."""

SECONDS_RULE: Final = f"must be a number of seconds, 0 or from {_SHORTEST:g} to {_LONGEST:,.0f}"


@dataclass(frozen=True, slots=True)
class AssertedRow:
    """One line of a file."""

    family: str
    datatype: str
    """Empty for any."""
    shape: Shape
    seconds: float
    line: int
    """Of the file, the first being 1."""

    @property
    def kernel(self) -> str:
        """ "gemm 4 × 4,096 × 4,096", "gemm 4 × 4,096 × 4,096 float16"."""
        return f"{self.family} {' × '.join(f'{size:,}' for size in self.shape)} {self.datatype}".strip()


def is_time(seconds: float) -> bool:
    """Whether a number may be a kernel's time, by `SECONDS_RULE`."""
    return seconds == 0 or _SHORTEST <= seconds <= _LONGEST


def read_asserted(path: Path) -> list[AssertedRow]:
    """The rows of a file. Raises `ProfileError` for one that can't be read, `InvalidInputError` with file, line and
    column for what breaks a rule.
    """
    header, lines = _opened(path)
    found = [_row(path.name, line, dict(zip(header, cells, strict=True))) for line, cells in lines]
    if not found:
        raise InvalidInputError(path.name, got="a header alone", rule="must have a line of figures")
    _refuse_repeats(path.name, found)
    return found


def _opened(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header, and the cells of each line that has some, stripped."""
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise ProfileError(str(path), rule="must have at most 100 MB", next_step="Leave out what isn't needed.")
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except (OSError, ValueError, csv.Error) as error:
        rule = f"can't be read: {os_reason(error)}"
        raise ProfileError(str(path), rule=rule, next_step="Check the path and the file.") from None
    rows = [(line, cells) for line, cells in rows if any(cells)]
    if not rows:
        raise InvalidInputError(path.name, got="an empty file", rule="must have a header")
    line, header = rows[0]
    _check_header(f"{path.name}, line {line}", header)
    for line, cells in rows[1:]:
        if len(cells) != len(header):
            rule = f"must have {len(header)} cells, as the header does"
            raise InvalidInputError(f"{path.name}, line {line}", got=str(len(cells)), rule=rule)
    return header, rows[1:]


def _check_header(place: str, header: list[str]) -> None:
    for name in header:
        if name not in _COLUMNS:
            near = nearest(name, list(_COLUMNS))
            guess = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(_COLUMNS)}."
            raise InvalidInputError(place, got=shown(name), rule="must name known columns", next_step=guess)
        if header.count(name) > 1:
            raise InvalidInputError(place, got=shown(name), rule="must name each column once")
    for name in ("family", "seconds"):
        if name not in header:
            raise InvalidInputError(place, got=", ".join(header), rule=f"must have the column {name}")


def _row(file: str, line: int, cells: Mapping[str, str]) -> AssertedRow:
    def place(column: str) -> str:
        return f"{file}, line {line}, column {column}"

    family = cells["family"]
    if family not in DIMENSIONS:
        near = nearest(family, list(DIMENSIONS))
        guess = f"Did you mean {near[0]}?" if near else ""
        rule = f"must be one of {', '.join(DIMENSIONS)}"
        raise InvalidInputError(place("family"), got=shown(family), rule=rule, next_step=guess)
    wanted = DIMENSIONS[family]
    for name in _SHAPES:
        if name not in wanted and cells.get(name, ""):
            rule = f"must be empty for {family}, whose shape is {', '.join(wanted)}"
            raise InvalidInputError(place(name), got=shown(cells[name]), rule=rule)
    shape = tuple(_count(place(name), cells.get(name, ""), family) for name in wanted)
    datatype = cells.get("datatype", ANY_DATATYPE)
    if datatype:
        try:
            element_bytes(datatype)
        except InvalidInputError as error:
            raise InvalidInputError(
                place("datatype"), got=error.got, rule=error.rule, next_step=error.next_step
            ) from None
    return AssertedRow(family, datatype, shape, _seconds(place("seconds"), cells["seconds"]), line)


def _count(place: str, text: str, family: str) -> int:
    if not text:
        raise InvalidInputError(place, got="nothing", rule=f"is part of the shape of {family}")
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST_COUNT)) else 0
    if not 1 <= number <= LARGEST_COUNT:
        raise InvalidInputError(place, got=shown(text), rule=f"must be an integer from 1 to {LARGEST_COUNT:,}")
    return number


def _seconds(place: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    # Left alone, float takes 1_0 and the digits of every script.
    if not is_time(number) or "_" in text or not text.isascii():
        raise InvalidInputError(place, got=shown(text), rule=SECONDS_RULE)
    return number + 0.0


def _refuse_repeats(file: str, rows: list[AssertedRow]) -> None:
    """Raises `InvalidInputError` where two lines say how long one kernel takes."""
    seen: dict[tuple[str, Shape], dict[str, int]] = {}
    for row in rows:
        stated = seen.setdefault((row.family, row.shape), {})
        if (line := _stating(stated, row.datatype)) is not None:
            raise InvalidInputError(
                f"{file}, line {row.line}",
                got=row.kernel,
                rule=f"says what line {line} says already",
                next_step="Leave one of them out.",
            )
        stated[row.datatype] = row.line


def _stating(stated: Mapping[str, int], datatype: str) -> int | None:
    """The line that holds for `datatype` too."""
    lines: Iterator[int] = (
        line for name, line in stated.items() if name == datatype or ANY_DATATYPE in (name, datatype)
    )
    return next(lines, None)
