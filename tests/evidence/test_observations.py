"""The observation table: its schema is documented, its rules are kept or the first fault is named."""

from __future__ import annotations

import pickle

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.errors import InvalidInputError
from blueprint_nb.evidence import COLUMNS, ELEMENT_BYTES, FAMILIES, checked, merged, one_source
from blueprint_nb.evidence import source_keys as keys_of
from blueprint_nb.evidence.observations import no_observations
from blueprint_nb.workload.datatype import BYTES_PER_ELEMENT

from .observed import SHAPES, observed


def fault(frame: object) -> str:
    with pytest.raises(InvalidInputError) as caught:
        checked(frame)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    return str(caught.value)


def test_evidence_and_workload_agree_on_the_size_of_an_element() -> None:
    assert dict(ELEMENT_BYTES) == BYTES_PER_ELEMENT


def test_every_column_says_what_it_means_and_quantities_say_their_unit() -> None:
    assert all(column.meaning for column in COLUMNS)
    assert [column.name for column in COLUMNS if column.dtype != "text" and not column.unit] == ["samples"]
    shape_columns = {name for family in FAMILIES.values() for name in (*family.required, *family.optional)}
    assert shape_columns <= {column.name for column in COLUMNS if column.nullable}


@pytest.mark.parametrize("family", sorted(SHAPES))
def test_a_row_with_the_shape_of_its_family_is_an_observation(family: str) -> None:
    frame = observed(3, family=family)
    assert checked(frame) is frame
    assert frame.columns == [column.name for column in COLUMNS]
    assert frame["samples"].to_list() == [1, 1, 1]


def test_no_rows_are_an_observation_table_too() -> None:
    assert len(checked(no_observations())) == 0
    assert merged([]).observations.equals(no_observations())
    assert observed(0).equals(no_observations())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seconds": [1.0, 0.0]}, "observations, row 1, column seconds must be a positive number. Got 0.0."),
        ({"seconds": [1.0, float("nan")]}, "observations, row 1, column seconds must be a positive number. Got nan."),
        ({"seconds": [None, 1.0]}, "observations, row 0, column seconds must be a positive number. Got None."),
        ({"seconds": [1.0, 1e308]}, "observations, row 1, column seconds must lie from 1e-15 to 1,000,000,000. Got 1e+308."),
        ({"spread_seconds": [None, 1e308]}, "observations, row 1, column spread_seconds must be at most 1,000,000,000. Got 1e+308."),
        ({"spread_seconds": [0.0, -1e-9]}, "observations, row 1, column spread_seconds must be a number from 0, or null. Got -1e-09."),
        ({"samples": [1, 0]}, "observations, row 1, column samples must be an integer from 1 to 1,000,000,000,000. Got 0."),
        ({"m": [0, 1]}, "observations, row 0, column m must be an integer from 1 to 1,000,000,000,000. Got 0."),
        ({"m": [1, None]}, "observations, row 1, column m is required for the family gemm. Got None."),
        ({"rows": [None, 5]}, "observations, row 1, column rows must be null for the family gemm, whose shape is m, n, k. Got 5."),
        ({"target": ["a100", ""]}, "observations, row 1, column target must not be empty. Got ''."),
        ({"model": ["", None]}, "observations, row 1, column model must be text. Got None."),
        ({"datatype": ["float16", "half"]}, "observations, row 1, column datatype must be float32, float16, bfloat16, float8, or empty for the host. Got 'half'."),
        ({"datatype": ["float16", ""]}, "observations, row 1, column datatype must be float32, float16, bfloat16, float8, or empty for the host. Got ''."),
        ({"file_sha256": ["0" * 64, "0" * 63 + "A"]}, f"observations, row 1, column file_sha256 must be 64 hexadecimal digits. Got '{'0' * 63}A'."),
    ],
)  # fmt: skip
def test_the_first_value_that_breaks_a_rule_is_named_with_its_column_and_row(
    changes: dict[str, list[object]], message: str
) -> None:
    assert fault(observed(2, **changes)) == message


def test_the_family_has_to_be_a_known_one() -> None:
    frame = observed(2).with_columns(family=pl.Series(["gemm", "conv"]))
    assert fault(frame) == f"observations, row 1, column family must be one of {', '.join(FAMILIES)}. Got 'conv'."


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kv_heads": 5}, "observations, row 0, column heads must be a multiple of kv_heads. Got 32."),
        ({"query_tokens": 2000}, "observations, row 0, column context_tokens must be at least query_tokens, which it includes. Got 1025."),
    ],
)  # fmt: skip
def test_attention_shapes_have_to_fit_together(changes: dict[str, int], message: str) -> None:
    assert fault(observed(family="attention_decode", **changes)) == message


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ([1], "observations must be a polars DataFrame. Got [1]."),
        (observed().drop("seconds"), "observations, column seconds is required. Got nothing. Give seconds as Float64."),
        (observed().with_columns(second=1.0), "observations, column second is no column of the table. Did you mean seconds?"),
        (observed().with_columns(zzz=1.0), "observations, column zzz is no column of the table. Leave it out."),
        (observed().with_columns(pl.col("m").cast(pl.Int32)), "observations, column m must be Int64. Got Int32."),
        (observed().select(pl.col("seconds"), pl.exclude("seconds")), "observations must have its columns in order. Select them in the order of COLUMNS."),
    ],
)  # fmt: skip
def test_another_schema_is_refused_with_its_column(frame: object, message: str) -> None:
    assert fault(frame) == message


@given(
    family=st.sampled_from(sorted(SHAPES)),
    column=st.sampled_from([column.name for column in COLUMNS if column.dtype == "count"]),
    row=st.integers(0, 4),
    value=st.sampled_from([None, -1, 0, 10**12 + 1]),
)
def test_a_count_that_breaks_a_rule_is_found_wherever_it_stands(
    family: str, column: str, row: int, value: int | None
) -> None:
    frame = observed(5, family=family)
    values = frame[column].to_list()
    values[row] = value
    changed = frame.with_columns(pl.Series(column, values, dtype=pl.Int64))
    if value is None and column not in ("samples", *FAMILIES[family].required):
        assert checked(changed) is changed
    else:
        assert fault(changed).startswith(f"observations, row {row}, column {column} ")


def test_sources_never_mix_unsaid() -> None:
    frame = pl.concat([observed(2), observed(software="vllm", software_version="0.24.0")])
    with pytest.raises(InvalidInputError) as caught:
        one_source(frame)
    assert str(caught.value) == (
        "observations must be of one source to be taken as one. Got vidur of no version from vidur made for a test; "
        "vllm 0.24.0 from vidur made for a test. "
        "Filter them by source, source_revision, software, software_version, or say pooled=True."
    )
    assert one_source(frame, pooled=True) is frame
    assert len(keys_of(frame)) == 2


def test_many_sources_are_named_by_their_number() -> None:
    frame = observed(7, software_version=[str(number) for number in range(7)])
    with pytest.raises(InvalidInputError, match=r"vidur 3 from vidur made for a test and 3 more\. Filter"):
        one_source(frame)


@pytest.mark.parametrize("count", [0, 3])
def test_rows_of_one_source_may_be_taken_as_one(count: int) -> None:
    frame = observed(count)
    assert one_source(frame) is frame
