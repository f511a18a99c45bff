"""The rows of a sweep: their order, their columns, and the points that can't be."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

import blueprint_nb as bp
from blueprint_nb.errors import InvalidInputError, UnknownNameError

AXES = ["tensor_parallel", "pipeline_parallel", "batch_size", "context_tokens"]

POINT_SCHEMA = {
    **dict.fromkeys(AXES, pl.Int64),
    "feasible": pl.Boolean,
    "reason": pl.String,
    "seconds": pl.Float64,
    "low_seconds": pl.Float64,
    "high_seconds": pl.Float64,
    "fits": pl.Boolean,
    "total_bytes": pl.Int64,
    "kv_cache_bytes": pl.Int64,
    "weights_bytes": pl.Int64,
    "devices": pl.Int64,
}

COMPONENT_SCHEMA = {
    **dict.fromkeys(AXES, pl.Int64),
    "feasible": pl.Boolean,
    "reason": pl.String,
    "phase": pl.String,
    "component": pl.String,
    "primitive": pl.String,
    "source_layer": pl.String,
    "seconds": pl.Float64,
    "count": pl.Int64,
    "operations": pl.Int64,
    "read_bytes": pl.Int64,
    "write_bytes": pl.Int64,
    "message_bytes": pl.Int64,
    "compute_seconds": pl.Float64,
    "memory_seconds": pl.Float64,
    "network_seconds": pl.Float64,
    "floor_seconds": pl.Float64,
    "bound": pl.String,
    "low_seconds": pl.Float64,
    "high_seconds": pl.Float64,
    "provider": pl.String,
    "revision": pl.String,
    "method": pl.String,
    "match": pl.String,
    "records": pl.String,
    "samples": pl.Int64,
    "spread_seconds": pl.Float64,
}


def test_rows_are_the_full_product_with_the_last_axis_fastest() -> None:
    axes = {
        "tensor_parallel": [1, 2, 3, 8],
        "pipeline_parallel": [1, 2],
        "batch_size": [1, 8, 64],
        "context_tokens": [1024, 2048, 4096],
    }
    frame = bp.sweep("llama-3.1-8b", "h100_80g_nvl8", **axes)
    assert frame.schema == pl.Schema(POINT_SCHEMA)
    assert frame.select(AXES).rows() == list(product(*axes.values()))
    assert frame.filter(pl.col("tensor_parallel") == 3)["feasible"].sum() == 0
    assert frame.filter(pl.col("tensor_parallel") != 3)["feasible"].all()


def test_points_that_no_mapping_has_have_nulls_and_a_reason() -> None:
    frame = bp.sweep(
        "phi-2", "a100_80g", tensor_parallel=[1, 3, 16], pipeline_parallel=[1, 5], context_tokens=[64, 4096]
    )
    assert dict(zip([tuple(row) for row in frame.select("tensor_parallel", "pipeline_parallel", "context_tokens").rows()], frame["reason"], strict=True)) == {
        (1, 1, 64): None,
        (1, 1, 4096): "context_tokens must be at most the sequence length of phi-2, 2,048 tokens",
        (1, 5, 64): "pipeline_parallel must divide the 32 blocks. Got 5. Legal up to 64: 1, 2, 4, 8, 16, 32.",
        (1, 5, 4096): "pipeline_parallel must divide the 32 blocks. Got 5. Legal up to 64: 1, 2, 4, 8, 16, 32.",
        (3, 1, 64): "tensor_parallel must divide the 32 attention heads. Got 3. Legal up to 64: 1, 2, 4, 8, 16, 32.",
        (3, 1, 4096): "tensor_parallel must divide the 32 attention heads. Got 3. Legal up to 64: 1, 2, 4, 8, 16, 32.",
        (3, 5, 64): "tensor_parallel must divide the 32 attention heads. Got 3. Legal up to 64: 1, 2, 4, 8, 16, 32.",
        (3, 5, 4096): "tensor_parallel must divide the 32 attention heads. Got 3. Legal up to 64: 1, 2, 4, 8, 16, 32.",
        **dict.fromkeys(
            product([16], [1, 5], [64, 4096]),
            "tensor_parallel must be at most 8, the ranks that network tier 0 (in the box) of a100_80g reaches. Got 16. "
            "Use fewer ranks, or another tensor_parallel_network.",
        ),
    }  # fmt: skip
    assert frame["feasible"].to_list() == frame["reason"].is_null().to_list()
    for name in ("seconds", "fits", "total_bytes", "kv_cache_bytes", "weights_bytes", "devices"):
        assert frame[name].is_null().to_list() == (~frame["feasible"]).to_list()


def test_a_wider_tier_makes_more_ranks_legal() -> None:
    frame = bp.sweep("llama-3.1-70b", "a100_80g", tensor_parallel=[8, 16, 64], tensor_parallel_network=1)
    assert frame["feasible"].all()
    assert frame["devices"].to_list() == [8, 16, 64]


def test_eight_ranks_in_each_of_two_stages_are_legal_on_the_tier_in_the_box() -> None:
    frame = bp.sweep("llama-3.1-70b", "a100_80g", tensor_parallel=8, pipeline_parallel=[2, 80])
    assert frame["feasible"].all()


def test_components_have_a_row_each_and_a_point_that_can_not_be_has_one() -> None:
    frame = bp.sweep(
        "phi-2-dense-mha", "a100_80g", tensor_parallel=[1, 3, 2], context_tokens=[64, 5000], by_component=True
    )
    assert frame.schema == pl.Schema(COMPONENT_SCHEMA)
    counts = frame.group_by(["tensor_parallel", "context_tokens"], maintain_order=True).len().rows()
    assert counts == [(1, 64, 12), (1, 5000, 1), (3, 64, 1), (3, 5000, 1), (2, 64, 14), (2, 5000, 1)]
    blank = frame.filter(~pl.col("feasible"))
    assert blank["reason"].null_count() == 0
    assert all(blank[name].null_count() == len(blank) for name in list(COMPONENT_SCHEMA)[7:])
    assert blank["phase"].unique().to_list() == ["decode"]


@pytest.mark.parametrize("axes", [{"tensor_parallel": 3}, {"context_tokens": 10**6}, {"pipeline_parallel": [7, 9]}])
def test_a_sweep_of_nothing_that_can_be_has_the_same_columns(axes: dict[str, object]) -> None:
    assert bp.sweep("phi-2", "a100_80g", **axes).schema == pl.Schema(POINT_SCHEMA)
    assert bp.sweep("phi-2", "a100_80g", by_component=True, **axes).schema == pl.Schema(COMPONENT_SCHEMA)


def test_ranks_without_end_are_a_reason_and_no_overflow() -> None:
    frame = bp.sweep("phi-2", "a100_80g", tensor_parallel=10**12, pipeline_parallel=10**12)
    assert frame["feasible"].to_list() == [False]
    assert frame["devices"].to_list() == [None]


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 4],
        (1, 2, 4),
        np.array([1, 2, 4]),
        np.array([1, 2, 4], dtype=np.uint8),
        [np.int64(1), 2, np.uint16(4)],
        np.array([1, 2, 4], dtype=object),
        iter([1, 2, 4]),
        pl.Series([1, 2, 4]),
    ],
    ids=["list", "tuple", "array", "small array", "scalars", "objects", "iterator", "series"],
)
def test_an_axis_is_any_sequence_of_integers(values: object) -> None:
    assert bp.sweep("phi-2", "a100_80g", batch_size=values)["batch_size"].to_list() == [1, 2, 4]


def test_an_axis_may_be_a_range_or_one_integer() -> None:
    assert bp.sweep("phi-2", "a100_80g", batch_size=range(3, 12, 4))["batch_size"].to_list() == [3, 7, 11]
    assert bp.sweep("phi-2", "a100_80g", batch_size=5)["batch_size"].to_list() == [5]
    assert bp.sweep("phi-2", "a100_80g", batch_size=np.int32(5))["batch_size"].to_list() == [5]


def test_values_may_repeat() -> None:
    seconds = bp.sweep("phi-2", "a100_80g", batch_size=[2, 2])["seconds"]
    assert seconds[0] == seconds[1]


RULE = "must be an integer from 1 to 1,000,000,000,000, or a non-empty sequence of them"


@pytest.mark.parametrize("field", AXES)
@pytest.mark.parametrize(
    ("values", "got"),
    [
        ([], "[]"),
        ((), "()"),
        (range(0), "range(0, 0)"),
        (np.array([], dtype=np.int64), "array([], dtype=int64)"),
        (True, "True"),
        ([1, True], "True"),
        (np.array([True]), "np.True_"),
        (1.0, "1.0"),
        ([1, 2.5], "2.5"),
        (np.array([1.0]), "np.float64(1.0)"),
        ("12", "'12'"),
        (["1"], "'1'"),
        (b"1", "b'1'"),
        (0, "0"),
        ([1, 0], "0"),
        ([4, -1], "-1"),
        (10**12 + 1, "1000000000001"),
        ([2**70], "1180591620717411303424"),
        (np.array([2**64 - 1], dtype=np.uint64), "18446744073709551615"),
        (None, "None"),
        ([1, None], "None"),
        ({1: 2}, "{1: 2}"),
        ({1}, "{1}"),
        ([[1, 2]], "[1, 2]"),
        (np.array([[1, 2]]), "array([[1, 2]])"),
        (np.array(1), "array(1)"),
        (float("nan"), "nan"),
    ],
)
def test_an_axis_of_anything_else_is_refused(field: str, values: object, got: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        bp.sweep("phi-2", "a100_80g", **{field: values})
    assert str(caught.value) == f"{field} {RULE}. Got {got}."


def test_a_sweep_that_no_memory_could_hold_is_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        bp.sweep("phi-2", "a100_80g", batch_size=range(1, 10_001), context_tokens=range(1, 2049))
    assert str(caught.value) == (
        "tensor_parallel · pipeline_parallel · batch_size · context_tokens must have at most 10,000,000 points. "
        "Got 20,480,000 points. Shorten an axis."
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"phase": "decoding"}, "phase must be decode or prefill. Got 'decoding'. Did you mean decode?"),
        ({"phase": None}, "phase must be decode or prefill. Got None."),
        ({"attention": "flsh"}, "attention must be flash, paged or unfused. Got 'flsh'. Did you mean flash?"),
        ({"attention": 7}, "attention must be flash, paged or unfused. Got 7."),
        ({"mode": "evidence"}, "mode must be calibrated, peak-only or system-evidence. Got 'evidence'. Did you mean system-evidence?"),
        ({"datatype": "fp8"}, "datatype must be bfloat16, float16, float32 or float8. Got 'fp8'. Did you mean float8?"),
    ],
)  # fmt: skip
def test_what_is_wrong_for_every_point_is_an_error_and_not_a_reason(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        bp.sweep("phi-2", "a100_80g", **arguments)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("field", ["tensor_parallel_network", "pipeline_parallel_network"])
def test_a_tier_that_is_not_there_is_an_error_and_not_a_reason(field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        bp.sweep("phi-2", "a100_80g", **{field: 2})
    assert (
        str(caught.value)
        == f"{field} must be a network tier of a100_80g. Got 2. It has 0 (in the box), 1 (between boxes)."
    )


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_by_component_is_true_or_false(value: object) -> None:
    with pytest.raises(InvalidInputError, match=r"^by_component must be true or false\. Got "):
        bp.sweep("phi-2", "a100_80g", by_component=value)
