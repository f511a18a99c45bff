"""How a row of each kind of table reads: which rows are left out, and the family and shape of the others.

Latencies are milliseconds of one execution on one rank. `step` is the past length, so that a row sees isl + step
tokens; a generation step has one new token whatever `isl` says, which is 1 in every published row. Collectives count
`message_size` in elements of the whole buffer, as nccl-tests do, so that half at S takes the time of int8 at 2S.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..observations import ELEMENT_BYTES

if TYPE_CHECKING:
    import polars as pl

__all__ = ["KINDS", "TableKind", "reason_left_out", "row_columns"]

DATATYPES: Final[Mapping[str, str]] = {
    "bfloat16": "bfloat16",
    "float16": "float16",
    "half": "float16",
    "fp8": "float8",
    "float32": "float32",
}
"""The package's names to the project's. Quantised weights and block-scaled formats have none."""

_COLLECTIVES: Final = ("all_reduce", "all_gather", "reduce_scatter")


@dataclass(frozen=True, slots=True)
class TableKind:
    """What a kind of table has to have."""

    datatype: str
    """The column with the datatype."""
    counts: tuple[str, ...]
    """Columns of integers that the shape is made of."""


_ATTENTION: Final = TableKind(
    "attn_dtype", ("batch_size", "isl", "step", "num_heads", "num_key_value_heads", "head_dim")
)
KINDS: Final[Mapping[str, TableKind]] = {
    "gemm": TableKind("gemm_dtype", ("m", "n", "k")),
    "context_attention": _ATTENTION,
    "generation_attention": _ATTENTION,
    "custom_allreduce": TableKind("allreduce_dtype", ("num_gpus", "message_size")),
    "nccl": TableKind("nccl_dtype", ("num_gpus", "message_size")),
}


def reason_left_out(kind: str, frame: pl.DataFrame) -> pl.Expr:
    """Why a row is left out, in words; null where it is not."""
    import polars as pl

    datatype, latency = pl.col(KINDS[kind].datatype), pl.col("latency")
    timed = latency.is_finite() & (latency > 0)
    reason = pl.when(timed.fill_null(False)).then(None).otherwise(pl.lit("latency must be a positive number"))
    if "beam_width" in frame.columns:
        reason = _first(reason, pl.col("beam_width") != 1, pl.lit("beam search: beam_width is not 1"))
    if "window_size" in frame.columns:
        reason = _first(reason, pl.col("window_size") != 0, pl.lit("a sliding window: window_size is not 0"))
    if "kv_cache_dtype" in frame.columns:
        cache = pl.col("kv_cache_dtype")
        reason = _first(reason, cache != datatype, pl.format("attention in {} over a cache in {}", datatype, cache))
    unknown = ~datatype.is_in(list(DATATYPES)).fill_null(False)
    reason = _first(reason, unknown, pl.format("no datatype of the project: {}", datatype.fill_null("none")))
    if kind == "nccl":
        operation = pl.col("op_name")
        reason = _first(reason, ~operation.is_in(_COLLECTIVES), pl.format("no such collective: {}", operation))
    return reason


def row_columns(kind: str) -> dict[str, pl.Expr]:
    """Family, shape and time of the rows that are kept, as columns of the observation table."""
    import polars as pl

    datatype = pl.col(KINDS[kind].datatype).replace_strict(DATATYPES, return_dtype=pl.String())
    common = {
        "seconds": pl.col("latency") / 1000,
        "datatype": datatype,
        "kernel": pl.col("kernel_source").fill_null(""),
        "component": pl.col("op_name"),
    }
    if kind == "gemm":
        return {**common, "family": pl.lit("gemm"), **{name: pl.col(name) for name in ("m", "n", "k")}}
    if kind in ("custom_allreduce", "nccl"):
        element_bytes = datatype.replace_strict(dict(ELEMENT_BYTES), return_dtype=pl.Int64())
        message = pl.col("message_size") * element_bytes
        return {**common, "family": pl.col("op_name"), "message_bytes": message, "ranks": pl.col("num_gpus")}
    is_prefill = kind == "context_attention"
    return {
        **common,
        "family": pl.lit("attention_prefill" if is_prefill else "attention_decode"),
        "batch": pl.col("batch_size"),
        "query_tokens": pl.col("isl") if is_prefill else pl.lit(1),
        "context_tokens": pl.col("isl") + pl.col("step"),
        "heads": pl.col("num_heads"),
        "kv_heads": pl.col("num_key_value_heads"),
        "head_size": pl.col("head_dim"),
    }


def _first(reason: pl.Expr, broken: pl.Expr, text: pl.Expr) -> pl.Expr:
    """`reason` where there is one already, else `text` where a row is `broken`."""
    import polars as pl

    return pl.coalesce(reason, pl.when(broken.fill_null(False)).then(text))
