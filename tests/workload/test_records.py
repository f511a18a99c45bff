"""Records refuse what breaks a rule, with one clear error for the first fault."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from pydantic import ValidationError

from blueprint_nb.errors import (
    BlueprintError,
    IntegrityError,
    InvalidInputError,
    MissingExtraError,
    OutputError,
    ProfileError,
    UnknownNameError,
    UnsupportedError,
    shown,
    unknown_name,
)
from blueprint_nb.mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from blueprint_nb.workload import TransformerInferenceRequestSpec, element_bytes

REQUEST = {"batch_size": 1, "prompt_tokens": 2, "generated_tokens": 3, "datatype": "float16"}
COUNT = "must be an integer from 1 to 1,000,000,000,000"


@pytest.mark.parametrize(
    ("value", "got"),
    [
        (0, "0"),
        (-1, "-1"),
        (10**12 + 1, "1000000000001"),
        (2**63, "9223372036854775808"),
        (1.0, "1.0"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (True, "True"),
        (np.True_, "np.True_"),
        ("8", "'8'"),
        (None, "None"),
        ([1], "[1]"),
        (Decimal(1), "Decimal('1')"),
        (Fraction(1), "Fraction(1, 1)"),
        (np.float64(1), "np.float64(1.0)"),
        (np.array([1, 2]), "array([1, 2])"),
    ],
)
def test_a_count_is_an_integer_and_nothing_like_one(value: object, got: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        TransformerInferenceRequestSpec(**{**REQUEST, "batch_size": value})
    assert str(caught.value) == f"batch_size {COUNT}. Got {got}."


@pytest.mark.parametrize("value", [np.int8(7), np.int64(7), np.uint64(7), 7])
def test_a_count_may_be_any_kind_of_integer(value: object) -> None:
    batch = TransformerInferenceRequestSpec(**{**REQUEST, "batch_size": value}).batch_size
    assert (batch, type(batch)) == (7, int)


def test_more_output_than_memory_could_hold_is_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        TransformerInferenceRequestSpec(**{**REQUEST, "generated_tokens": 10**12})
    assert str(caught.value) == "generated_tokens must be at most 10,000,000. Got 1000000000000."


def test_a_missing_field_is_named() -> None:
    with pytest.raises(InvalidInputError) as caught:
        TransformerInferenceRequestSpec(batch_size=1, prompt_tokens=1, datatype="float16")
    assert str(caught.value) == "generated_tokens is required. Got nothing. Give generated_tokens."


def test_an_unknown_field_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidInputError) as caught:
        TransformerInferenceMappingSpec(tensor_paralel=2)
    assert str(caught.value) == (
        "tensor_paralel is not a known field. Got 2. Did you mean tensor_parallel? "
        "Known fields: pipeline_parallel, replicas, tensor_parallel."
    )


def test_a_record_can_not_be_changed() -> None:
    mapping = TransformerInferenceMappingSpec(tensor_parallel=2)
    with pytest.raises(ValidationError, match="frozen"):
        mapping.tensor_parallel = 4
    assert mapping.tensor_parallel == 2


def test_devices_are_ranks_times_stages_times_replicas() -> None:
    assert TransformerInferenceMappingSpec(tensor_parallel=2, pipeline_parallel=3, replicas=5).devices == 30


def test_a_tier_is_an_index_from_0() -> None:
    assert NetworkTierBinding().tensor_parallel_network == 0
    with pytest.raises(InvalidInputError, match=r"^pipeline_parallel_network must be an integer from 0 to"):
        NetworkTierBinding(pipeline_parallel_network=-1)


@pytest.mark.parametrize(("datatype", "size"), [("float32", 4), ("float16", 2), ("bfloat16", 2), ("float8", 1)])
def test_a_datatype_has_its_bytes(datatype: str, size: int) -> None:
    assert element_bytes(datatype) == size


@pytest.mark.parametrize(
    ("short", "name"),
    [("fp8", "float8"), ("FP16", "float16"), ("half", "float16"), ("bf16", "bfloat16"), ("fp32", "float32")],
)
def test_a_short_name_of_a_datatype_is_refused_with_the_one_it_means(short: str, name: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        element_bytes(short)
    assert str(caught.value).endswith(f"Got {short!r}. Did you mean {name}?")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "fp16",
            "datatype must be bfloat16, float16, float32 or float8. Got 'fp16'. Did you mean float16?",
        ),
        ("int4", "datatype must be bfloat16, float16, float32 or float8. Got 'int4'."),
        (16, "datatype must be bfloat16, float16, float32 or float8. Got 16."),
        (None, "datatype must be bfloat16, float16, float32 or float8. Got None."),
        ([1], "datatype must be bfloat16, float16, float32 or float8. Got [1]."),
    ],
)  # fmt: skip
def test_an_unknown_datatype_is_refused_with_the_nearest(value: object, message: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        TransformerInferenceRequestSpec(**{**REQUEST, "datatype": value})
    assert str(caught.value) == message
    with pytest.raises(UnknownNameError) as caught:
        element_bytes(value)
    assert str(caught.value) == message


@pytest.mark.parametrize("kind", [InvalidInputError, UnsupportedError, UnknownNameError])
def test_errors_about_values_are_value_errors_and_can_be_pickled(kind: type[BlueprintError]) -> None:
    error = kind("a.b", rule="must be 1", got="2", next_step="Give 1.")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert isinstance(copy, ValueError)
    assert str(copy) == str(error) == "a.b must be 1. Got 2. Give 1."
    assert str(error.under("x")) == "x.a.b must be 1. Got 2. Give 1."


@pytest.mark.parametrize(
    ("kind", "also"),
    [
        (IntegrityError, ValueError),
        (ProfileError, ValueError),
        (OutputError, OSError),
        (MissingExtraError, ImportError),
    ],
)
def test_other_errors_are_what_python_calls_them_and_can_be_pickled(
    kind: type[BlueprintError], also: type[Exception]
) -> None:
    error = kind("out.html", rule="can't be written", got="'/'", next_step="Check the path.")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert isinstance(copy, also)
    assert str(copy) == str(error) == "out.html can't be written. Got '/'. Check the path."


def test_a_long_value_is_cut_where_it_is_shown() -> None:
    assert len(shown("x" * 1000)) == 120
    assert shown("x" * 1000).endswith("…")
    assert shown(1) == "1"


def test_an_unknown_name_without_a_near_one_says_where_all_are_listed() -> None:
    error = unknown_name("model", "zzz", [f"m{i}" for i in range(20)], listing="`show models`")
    assert str(error) == "model must be one of 20 known names. Got 'zzz'. See `show models`."
    assert str(unknown_name("mode", "a", [])) == "mode can't be chosen: there is nothing to choose from. Got 'a'."
