"""The observation table: one measured time a row, with what was measured, on what, by which software, and where it
stands in its source.

Work is that of one rank. A row has the shape columns of its family and no others, so that a null always means "not of
this family" or, where a column is optional, "the source does not say". Duplicate keys stay rows of their own: they
are what a source's noise is known by. Times of a source are never scaled, clipped or filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "COLUMNS",
    "ELEMENT_BYTES",
    "FAMILIES",
    "SHAPES",
    "SOURCE_KEY",
    "Column",
    "Family",
    "no_observations",
    "observation_frame",
    "polars_schema",
]

ELEMENT_BYTES: Final[Mapping[str, int]] = {"float32": 4, "float16": 2, "bfloat16": 2, "float8": 1}
"""Bytes of one element of each datatype. Evidence knows no workload: a test holds this to the workload's table."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the observation table."""

    name: str
    dtype: Literal["text", "count", "number"]
    """`text`: String, never null. `count`: Int64, from 1 to 10^12. `number`: Float64."""
    unit: str
    """Empty where a column has none."""
    meaning: str
    nullable: bool = False


_IDENTITY: Final = (
    Column("target", "text", "", "the device, as the source names it: a100, h100_sxm"),
    Column("family", "text", "", "the kind of kernel, one of FAMILIES"),
    Column("component", "text", "", "the source's own name of what was timed"),
    Column("datatype", "text", "", "of the elements, one of ELEMENT_BYTES; empty for the host"),
    Column("software", "text", "", "what ran: vllm, nccl; the source's name where it does not say"),
    Column("software_version", "text", "", "its version; empty where the source does not say"),
    Column("kernel", "text", "", "the source's name of the kernel or backend; empty where it does not say"),
)

SHAPES: Final = (
    Column("m", "count", "rows", "of the activations and of the product", nullable=True),
    Column("n", "count", "columns", "of the weights and of the product", nullable=True),
    Column("k", "count", "elements", "of each sum: columns of the activations, rows of the weights", nullable=True),
    Column("rows", "count", "tokens", "rows that a row-wise kernel works on", nullable=True),
    Column("width", "count", "elements", "of one row on this rank, as written; keys and values for kv_save", True),
    Column("vocab_rows", "count", "rows", "of the embedding table on this rank", nullable=True),
    Column("batch", "count", "sequences", "in the step", nullable=True),
    Column("query_tokens", "count", "tokens", "new ones of each sequence", nullable=True),
    Column("context_tokens", "count", "tokens", "visible to the last new one, the new ones included", nullable=True),
    Column("heads", "count", "heads", "query heads on this rank", nullable=True),
    Column("kv_heads", "count", "heads", "key and value heads on this rank", nullable=True),
    Column("head_size", "count", "elements", "of a head", nullable=True),
    Column("block_size", "count", "tokens", "in a block of the KV cache", nullable=True),
    Column("message_bytes", "count", "bytes", "the whole buffer: reduced, gathered, to scatter, or sent", True),
    Column("ranks", "count", "ranks", "that take part", nullable=True),
    Column("devices_per_node", "count", "devices", "of the ranks in one machine", nullable=True),
)
"""What was worked on, by one rank."""

_MEASUREMENT: Final = (
    Column("model", "text", "", "whose dimensions these are, as the source names it; empty where of none"),
    Column("tensor_parallel", "count", "ranks", "that the model was spread over", nullable=True),
    Column("seconds", "number", "s", "of one execution: the median, where the source has one"),
    Column("samples", "count", "", "times that `seconds` stands for: 1 a row of the source, unless it says"),
    Column("spread_seconds", "number", "s", "largest less smallest of the repeats", nullable=True),
    Column("source", "text", "", "who published it: vidur, aiconfigurator-core"),
    Column("source_revision", "text", "", "of what was published"),
    Column("file_sha256", "text", "", "of the file's bytes, as hexadecimal"),
    Column("licence", "text", "", "of the data, by its SPDX name"),
    Column(
        "record", "text", "", "file name and place in it: the line of a CSV file, from 1; the row of a table, from 0"
    ),
)

COLUMNS: Final = (*_IDENTITY, *SHAPES, *_MEASUREMENT)
"""The schema, in the order of the table."""

SOURCE_KEY: Final = ("source", "source_revision", "software", "software_version")
"""What has to agree before two rows may be taken for measurements of the same thing."""


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of kernel: which columns are its shape."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


_ROW_WISE: Final = Family(("rows", "width"))
_ATTENTION: Final = Family(
    ("batch", "query_tokens", "context_tokens", "heads", "kv_heads", "head_size"), ("block_size",)
)
_COLLECTIVE: Final = Family(("message_bytes", "ranks"), ("devices_per_node",))

FAMILIES: Final[Mapping[str, Family]] = {
    "gemm": Family(("m", "n", "k")),
    "rms_norm": _ROW_WISE,
    "layer_norm": _ROW_WISE,
    "gated_activation": _ROW_WISE,
    "activation": _ROW_WISE,
    "rope": _ROW_WISE,
    "add": _ROW_WISE,
    "embedding": Family(("rows", "width", "vocab_rows")),
    "kv_save": Family(("rows", "width"), ("kv_heads", "head_size", "block_size")),
    "attention_decode": _ATTENTION,
    "attention_prefill": _ATTENTION,
    "all_reduce": _COLLECTIVE,
    "all_gather": _COLLECTIVE,
    "reduce_scatter": _COLLECTIVE,
    "point_to_point": _COLLECTIVE,
    "host": Family(("batch",)),
}


def polars_schema() -> dict[str, pl.DataType]:
    """The schema as polars says it."""
    import polars as pl

    dtypes: dict[str, pl.DataType] = {"text": pl.String(), "count": pl.Int64(), "number": pl.Float64()}
    return {column.name: dtypes[column.dtype] for column in COLUMNS}


def no_observations() -> pl.DataFrame:
    """The table without rows."""
    import polars as pl

    return pl.DataFrame(schema=polars_schema())


def observation_frame(columns: Mapping[str, Any], **constants: str | int | None) -> pl.DataFrame:
    """A table with the schema, unchecked: `columns` as arrays of one length, `constants` alike in every row.

    Shape columns and other nullable ones that are left out are null, texts empty, samples 1.
    """
    import polars as pl

    values: dict[str, Any] = {
        column.name: None if column.nullable else "" for column in COLUMNS if column.dtype == "text" or column.nullable
    }
    values = {**values, "samples": 1, **constants}
    schema = polars_schema()
    given = pl.DataFrame(dict(columns))
    filled = [pl.lit(value, dtype=schema[name]).alias(name) for name, value in values.items() if name not in columns]
    return given.with_columns(filled).select(pl.col(name).cast(dtype) for name, dtype in schema.items())
