"""The rules of the observation table: the first fault is said with its column and row, and nothing is mended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from ..errors import InvalidInputError, nearest, shown
from .observations import COLUMNS, ELEMENT_BYTES, FAMILIES, SHAPES, polars_schema

if TYPE_CHECKING:
    import polars as pl

__all__ = ["checked"]

_LARGEST_COUNT: Final = 10**12
_SHORTEST_SECONDS: Final = 1e-15
_LONGEST_SECONDS: Final = 1e9
"""What lies beyond is no kernel's time, and would make sums infinite."""
_MAY_BE_EMPTY: Final = ("datatype", "software_version", "kernel", "model")


class _Rule(NamedTuple):
    column: str
    text: str
    broken: pl.Expr


def checked(frame: object) -> pl.DataFrame:
    """`frame`, if it is an observation table.

    Raises `InvalidInputError` with the column for a schema that is not `COLUMNS`, and with column and row, the first
    being 0, for the first value that breaks a rule of its column or of its row's family.
    """
    import polars as pl

    if not isinstance(frame, pl.DataFrame):
        raise InvalidInputError("observations", got=shown(frame), rule="must be a polars DataFrame")
    _check_schema(frame)
    rules = list(_rules())
    broken = frame.select(rule.broken.fill_null(True).any().alias(str(number)) for number, rule in enumerate(rules))
    for number, rule in enumerate(rules):
        if broken[str(number)][0]:
            raise _fault(frame, rule)
    return frame


def _check_schema(frame: pl.DataFrame) -> None:
    schema = polars_schema()
    for name in frame.columns:
        if name not in schema:
            near = nearest(name, list(schema))
            guess = f"Did you mean {near[0]}?" if near else "Leave it out."
            raise InvalidInputError(f"observations, column {name}", rule="is no column of the table", next_step=guess)
    for name, dtype in schema.items():
        place = f"observations, column {name}"
        if name not in frame.columns:
            raise InvalidInputError(place, rule="is required", got="nothing", next_step=f"Give {name} as {dtype}.")
        if frame.schema[name] != dtype:
            raise InvalidInputError(place, rule=f"must be {dtype}", got=str(frame.schema[name]))
    if frame.columns != list(schema):
        raise InvalidInputError(
            "observations", rule="must have its columns in order", next_step="Select them in the order of COLUMNS."
        )


def _fault(frame: pl.DataFrame, rule: _Rule) -> InvalidInputError:
    import polars as pl

    row = int(frame.select(pl.arg_where(rule.broken.fill_null(True)).first().alias("row"))["row"][0])
    text, family = rule.text, frame["family"][row]
    if family in FAMILIES:
        shape = FAMILIES[family]
        text = text.format(family=family, shape=", ".join((*shape.required, *shape.optional)))
    return InvalidInputError(
        f"observations, row {row:,}, column {rule.column}", got=shown(frame[rule.column][row]), rule=text
    )


def _rules() -> Iterator[_Rule]:
    """Every rule; its expression is true, or null, where a row breaks it."""
    yield from _text_rules()
    yield from _shape_rules()
    yield from _measurement_rules()
    import polars as pl

    heads, kv_heads = pl.col("heads"), pl.col("kv_heads")
    attends = pl.col("family").str.starts_with("attention_")
    yield _Rule("heads", "must be a multiple of kv_heads", attends & (heads % kv_heads != 0))
    too_short = attends & (pl.col("context_tokens") < pl.col("query_tokens"))
    yield _Rule("context_tokens", "must be at least query_tokens, which it includes", too_short)


def _text_rules() -> Iterator[_Rule]:
    import polars as pl

    for column in COLUMNS:
        if column.dtype == "text":
            value = pl.col(column.name)
            yield _Rule(column.name, "must be text", value.is_null())
            if column.name not in _MAY_BE_EMPTY:
                yield _Rule(column.name, "must not be empty", value == "")
    yield _Rule("family", f"must be one of {', '.join(FAMILIES)}", ~pl.col("family").is_in(list(FAMILIES)))
    known = pl.col("datatype").is_in(list(ELEMENT_BYTES)) | ((pl.col("family") == "host") & (pl.col("datatype") == ""))
    yield _Rule("datatype", f"must be {', '.join(ELEMENT_BYTES)}, or empty for the host", ~known)
    hexadecimal = pl.col("file_sha256").str.contains("^[0-9a-f]{64}$")
    yield _Rule("file_sha256", "must be 64 hexadecimal digits", ~hexadecimal)


def _shape_rules() -> Iterator[_Rule]:
    import polars as pl

    for column in SHAPES:
        value, family = pl.col(column.name), pl.col("family")
        needed = [name for name, shape in FAMILIES.items() if column.name in shape.required]
        held = [name for name, shape in FAMILIES.items() if column.name in (*shape.required, *shape.optional)]
        yield _Rule(column.name, "is required for the family {family}", value.is_null() & family.is_in(needed))
        stray = value.is_not_null() & ~family.is_in(held)
        yield _Rule(column.name, "must be null for the family {family}, whose shape is {shape}", stray)
        yield _count_rule(column.name)


def _measurement_rules() -> Iterator[_Rule]:
    import polars as pl

    yield _count_rule("tensor_parallel")
    yield _Rule("samples", "must be an integer from 1", pl.col("samples").is_null())
    yield _count_rule("samples")
    seconds, spread = pl.col("seconds"), pl.col("spread_seconds")
    yield _Rule("seconds", "must be a positive number", ~(seconds.is_finite() & (seconds > 0)))
    beyond = ~seconds.is_between(_SHORTEST_SECONDS, _LONGEST_SECONDS)
    yield _Rule("seconds", f"must lie from {_SHORTEST_SECONDS:g} to {_LONGEST_SECONDS:,.0f}", beyond)
    wrong = ~(spread.is_finite() & (spread >= 0))
    yield _Rule("spread_seconds", "must be a number from 0, or null", wrong & spread.is_not_null())
    beyond = (spread > _LONGEST_SECONDS) & spread.is_not_null()
    yield _Rule("spread_seconds", f"must be at most {_LONGEST_SECONDS:,.0f}", beyond)


def _count_rule(name: str) -> _Rule:
    import polars as pl

    rule = f"must be an integer from 1 to {_LARGEST_COUNT:,}"
    return _Rule(name, rule, (~pl.col(name).is_between(1, _LARGEST_COUNT)).fill_null(False))
