"""A sweep's frame as text: units in the headers, reasons below, cut where it would flood a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median
from typing import TYPE_CHECKING, Any

import click

from ..analysis.bands import BAND_NAME
from ..analysis.frames import BAND_COLUMNS
from ..units import GIB, NO_FIGURE, format_count, format_seconds, three_digits, time_unit
from .speech import OPTIONS, in_options
from .tables import Column, table, table_lines, wrapped

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS = 500
_READING = "times: executions in the step · share: of the step · all else: of one execution"
POINT = ("tensor_parallel", "pipeline_parallel", "batch_size", "context_tokens")
_DECIMAL_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def points_text(frame: pl.DataFrame, phase: str) -> str:
    """A row for each point: step, rate and memory."""
    rows = _cut(frame)
    seconds = rows["seconds"].to_list()
    tokens = rows["batch_size"] * rows["context_tokens"] if phase == "prefill" else rows["batch_size"]
    rates = [count / time if time else None for count, time in zip(tokens, seconds, strict=True)]
    scale, unit = time_unit(median(_present(seconds) or [1.0]))
    fits = ["" if fit is None else ("yes" if fit else "no") for fit in rows["fits"]]
    columns = [
        *_axes(rows),
        Column("devices", _text(rows["devices"], format_count)),
        Column("step", _text(seconds, lambda value: three_digits(value / scale)), unit, "point"),
        *_band_columns(rows, scale, unit),
        _rate("prompt", rates, "tokens/s") if phase == "prefill" else _rate("tokens/s", rates),
        Column("memory", _text(rows["total_bytes"], _gib), "GiB/device", "point"),
        Column("KV cache", _text(rows["kv_cache_bytes"], _gib), "GiB/device", "point"),
        Column("fits", fits, "", "left"),
    ]
    return _with_reasons(rows, columns)


def components_text(frame: pl.DataFrame) -> str:
    """Under each point, a row for each of its components.

    Time, band, work, traffic and message are of one execution, `times` counts those in the step, and the share is of
    the step's seconds: all executions of the component over those of all components.
    """
    import polars as pl

    step = pl.col("seconds") * pl.col("count")
    total = step.sum().over(POINT)
    rows = _cut(frame).with_columns(pl.when(total > 0).then(step / total).alias("share"))
    scale, unit = time_unit(_readable(rows["seconds"]))
    columns = [
        Column("component", _text(rows["component"], str), "", "left"),
        Column("times", _text(rows["count"], format_count)),
        Column("share", _text(rows["share"], lambda value: f"{100 * value:.1f}"), "%", "point"),
        Column("bound", _text(rows["bound"], str), "", "left"),
        Column("each", _text(rows["seconds"], lambda value: three_digits(value / scale)), unit, "point"),
        *_band_columns(rows, scale, unit),
        _scaled("work", rows["operations"].to_list(), "FLOP"),
        _scaled("traffic", (rows["read_bytes"] + rows["write_bytes"]).to_list(), "B"),
        _scaled("message", rows["message_bytes"].to_list(), "B"),
    ]
    head, lines = table_lines(columns)
    totals = rows.select(total.alias("total"), *POINT, "reason").iter_rows()
    shown: list[str] = []
    last = ""
    for (seconds, tensor_parallel, pipeline_parallel, batch, context, reason), line in zip(totals, lines, strict=True):
        cost = in_options(reason, OPTIONS.values()) if reason else format_seconds(seconds)
        point = f"TP {tensor_parallel} · PP {pipeline_parallel} · batch {batch:,} · context {context:,} · {cost}"
        shown += [] if point == last else ["", wrapped(point, "", "    ")]
        shown += [] if reason else [line]
        last = point
    return "\n".join([_READING, *head, *shown[1:]])


def _cut(frame: pl.DataFrame) -> pl.DataFrame:
    if frame.height > MOST_ROWS:
        click.echo(
            f"Note: the first {MOST_ROWS:,} of {frame.height:,} rows are shown; --output FILE.csv writes them all.",
            err=True,
        )
    return frame.head(MOST_ROWS)


def _axes(rows: pl.DataFrame) -> list[Column]:
    return [
        Column("TP", _text(rows["tensor_parallel"], format_count)),
        Column("PP", _text(rows["pipeline_parallel"], format_count)),
        Column("batch", _text(rows["batch_size"], format_count)),
        Column("context", _text(rows["context_tokens"], format_count), "tokens"),
    ]


def _band_columns(rows: pl.DataFrame, scale: float, unit: str) -> list[Column]:
    """ "6.65–7.40" of each row; no column where no row has a band."""
    ends = list(rows.select(BAND_COLUMNS).iter_rows())
    if all(low is None for low, _ in ends):
        return []
    cells = [
        NO_FIGURE if low is None else f"{three_digits(low / scale)}–{three_digits(high / scale)}" for low, high in ends
    ]
    return [Column(BAND_NAME, cells, unit)]


def _rate(name: str, values: list[float | None], unit: str = "") -> Column:
    return Column(name, _text(values, three_digits), unit, "point")


def _scaled(name: str, values: list[int | None], unit: str) -> Column:
    readable = _readable(values)
    scale, prefix = next((pair for pair in _DECIMAL_PREFIXES if readable >= pair[0]), _DECIMAL_PREFIXES[-1])
    return Column(name, _text(values, lambda value: three_digits(value / scale)), f"{prefix}{unit}", "point")


def _with_reasons(rows: pl.DataFrame, columns: list[Column]) -> str:
    """The table, with a number for each reason in a last column, and the reasons below it."""
    reasons = list(dict.fromkeys(_present(rows["reason"])))
    if not reasons:
        return table(columns)
    numbers = {reason: f"[{number}]" for number, reason in enumerate(reasons, 1)}
    notes = Column("", [numbers.get(reason, "") for reason in rows["reason"]], "", "left")
    options = OPTIONS.values()
    below = (wrapped(in_options(reason, options), f"{numbers[reason]} ", "    ") for reason in reasons)
    return "\n".join([table([*columns, notes]), "", *below])


def _text(values: Iterable[Any], text: Callable[[Any], str]) -> list[str]:
    return [NO_FIGURE if value is None else text(value) for value in values]


def _present(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def _readable(values: Iterable[Any]) -> float:
    """What the unit of a column should suit, so that neither its largest nor its smaller values are all digits."""
    return float(max(_present(values), default=100)) / 100


def _gib(count: int) -> str:
    return three_digits(count / GIB)
