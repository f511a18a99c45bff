"""What the front door says of bad input: the field, the value, the rule and the next step."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import blueprint_nb as bp
from blueprint_nb.errors import BlueprintError

COUNT = "must be an integer from 1 to 1,000,000,000,000"
INDEX = "must be an integer from 0 to 1,000,000,000,000"
DATATYPES = "datatype must be bfloat16, float16, float32 or float8"
TP_LEGAL = "Legal up to 64: 1, 2, 4, 8, 16, 32."

ESTIMATE_MESSAGES: list[tuple[dict[str, Any], str]] = [
    (
        {"model": "lama-2-7b"},
        "model must be one of 16 known names. Got 'lama-2-7b'. Did you mean llama-2-7b?",
    ),
    ({"model": "zzz"}, "model must be one of 16 known names. Got 'zzz'. See `blueprint-nb show models`."),
    ({"model": None}, "model must be a profile's name or the path of a TOML file. Got None."),
    ({"model": 7}, "model must be a profile's name or the path of a TOML file. Got 7."),
    (
        {"system": "h100"},
        "system must be one of 10 known names. Got 'h100'. Did you mean h100_80g_sxm or h100_80g_nvl8?",
    ),
    ({"system": ["a100_80g"]}, "system must be a profile's name or the path of a TOML file. Got ['a100_80g']."),
    ({"system": "no.toml"}, "no.toml can't be read: no such file or directory. Check the path."),
    *(
        ({field: value}, f"{field} {COUNT}. Got {got}.")
        for field in (
            "tensor_parallel", "pipeline_parallel", "replicas", "batch_size", "prompt_tokens", "generated_tokens",
        )
        for value, got in (
            (0, "0"), (-3, "-3"), (10**13, "10000000000000"), (True, "True"), (2.0, "2.0"), (float("nan"), "nan"),
            ("2", "'2'"), (None, "None"), ([2], "[2]"), (float("inf"), "inf"), (np.float32(2), "np.float32(2.0)"),
        )
    ),
    *(
        ({field: value}, f"{field} {INDEX}. Got {got}.")
        for field in ("tensor_parallel_network", "pipeline_parallel_network")
        for value, got in ((-1, "-1"), (False, "False"), (0.0, "0.0"), ("0", "'0'"))
    ),
    *(
        ({field: 2}, f"{field} must be a network tier of a100_80g. Got 2. It has 0 (in the box), 1 (between boxes).")
        for field in ("tensor_parallel_network", "pipeline_parallel_network")
    ),
    ({"generated_tokens": 10**8}, "generated_tokens must be at most 10,000,000. Got 100000000."),
    ({"tensor_parallel": 3}, f"tensor_parallel must divide the 32 attention heads. Got 3. {TP_LEGAL}"),
    ({"pipeline_parallel": 5}, f"pipeline_parallel must divide the 32 blocks. Got 5. {TP_LEGAL}"),
    (
        {"tensor_parallel": 16},
        "tensor_parallel must be at most 8, the ranks that network tier 0 (in the box) of a100_80g reaches. Got 16. "
        "Use fewer ranks, or another tensor_parallel_network.",
    ),
    (
        {"prompt_tokens": 2000, "generated_tokens": 50},
        "prompt_tokens + generated_tokens - 1 must be at most the sequence length of phi-2, 2,048 tokens. Got 2,049. "
        "Shorten the prompt or the output.",
    ),
    ({"datatype": "fp8"}, f"{DATATYPES}. Got 'fp8'. Did you mean float8?"),
    ({"datatype": "bf16"}, f"{DATATYPES}. Got 'bf16'. Did you mean bfloat16?"),
    ({"datatype": None}, f"{DATATYPES}. Got None."),
    (
        {"datatype": "float8"},
        "a100_80g.matrix.float8_tflop_per_s is not in this profile, so float8 can't be costed on it. It has float16.",
    ),
    ({"mode": "peak"}, "mode must be calibrated, peak-only or system-evidence. Got 'peak'. Did you mean peak-only?"),
    ({"mode": 7}, "mode must be calibrated, peak-only or system-evidence. Got 7."),
    (
        {"mode": "system-evidence", "calibration": "vidur"},
        "calibration belongs to mode='calibrated', not to 'system-evidence'. Got 'vidur'. Leave one of them out.",
    ),
    (
        {"calibration": "vllm"},
        "calibration must be pooled or vidur. Got 'vllm'.",
    ),
    ({"attention": "flsh"}, "attention must be flash, paged or unfused. Got 'flsh'. Did you mean flash?"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), ESTIMATE_MESSAGES, ids=[str(m[0]) for m in ESTIMATE_MESSAGES])
def test_an_estimate_refuses_what_it_can_not_mean(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BlueprintError) as caught:
        bp.estimate(**{"model": "phi-2", "system": "a100_80g", **arguments})
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == message
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is type(caught.value)
    assert str(copy) == message


def test_a_system_without_curves_says_what_it_lacks_and_what_works() -> None:
    with pytest.raises(BlueprintError) as caught:
        bp.estimate("phi-2", "mi300x_192g", mode="system-evidence")
    assert str(caught.value).startswith(
        "mode needs efficiencies that nobody measured for mi300x_192g: matrix.efficiency"
    )
    assert str(caught.value).endswith(
        "Use mode='peak-only', or a system with curves such as a100_80g or h100_80g_nvl8."
    )


def test_an_unknown_argument_is_python_s_own_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'tp'"):
        bp.estimate("phi-2", "a100_80g", tp=2)
    with pytest.raises(TypeError, match="positional argument"):
        bp.estimate("phi-2", "a100_80g", 2)


class Odd:
    """An object that is nothing the front door takes."""

    def __repr__(self) -> str:
        return "Odd()"


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 40),
    st.sampled_from([10**12, 10**12 + 1, 2**63 - 1, 2**63, 2**64, -(2**63)]),
    st.floats(),
    st.complex_numbers(),
    st.decimals(),
    st.fractions(),
    st.text(max_size=9),
    st.binary(max_size=5),
    st.sampled_from(["float16", "peak-only", "decode", "flash", "phi-2", "a100_80g", ".toml", "\0.toml", "/", "~"]),
    st.sampled_from(
        [
            np.int8(1),
            np.uint64(2**64 - 1),
            np.float64("nan"),
            np.bool_(True),
            np.str_("flash"),
            np.array(3),
            np.array([1, 2]),
            np.array([[1]]),
            np.array([1.5]),
            np.array(["flash"]),
            np.array([], dtype=np.int64),
            np.datetime64("2024-01-01"),
            Odd(),
            Odd,
            Path("nowhere.toml"),
            Path(),
            range(3),
            range(10**25),
            range(0),
            Decimal("NaN"),
            Fraction(1, 3),
            len,
            Ellipsis,
        ]
    ),
)

JUNK = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.tuples(SCALARS),
    st.dictionaries(st.text(max_size=3), SCALARS, max_size=2),
    st.sets(st.integers(1, 3)),
)

NUMBERS = ["tensor_parallel", "pipeline_parallel", "batch_size", "tensor_parallel_network", "pipeline_parallel_network"]
WORDS = ["datatype", "mode", "attention"]

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any], list[str]]] = {
    "estimate": (
        bp.estimate,
        {"model": "phi-2", "system": "a100_80g", "prompt_tokens": 8, "generated_tokens": 3},
        ["model", "system", "replicas", "prompt_tokens", "generated_tokens", *NUMBERS, *WORDS],
    ),
    "sweep": (
        bp.sweep,
        {"model": "phi-2", "system": "a100_80g"},
        ["model", "system", "context_tokens", "phase", "by_component", *NUMBERS, *WORDS],
    ),
    "kv_cache_bytes": (
        bp.kv_cache_bytes,
        {"model": "phi-2"},
        ["model", "context_tokens", "batch_size", "tensor_parallel", "pipeline_parallel", "datatype"],
    ),
    "describe": (bp.describe, {}, ["model"]),
    "load_model": (bp.load_model, {}, ["model"]),
    "load_system": (bp.load_system, {}, ["system"]),
}

CALL_AND_FIELD = [(call, field) for call, (_, _, fields) in CALLS.items() for field in fields]


def refusal(function: Callable[..., Any], **arguments: object) -> BlueprintError | None:
    """How a call refuses what it is given; None where it takes it. Any other error is a fault."""
    try:
        function(**arguments)
    except BlueprintError as error:
        return error
    return None


@pytest.mark.parametrize(("call", "field"), CALL_AND_FIELD, ids=[f"{call} {field}" for call, field in CALL_AND_FIELD])
@given(junk=JUNK)
def test_whatever_is_given_is_taken_or_refused_in_the_project_s_own_words(call: str, field: str, junk: object) -> None:
    function, given_too, _ = CALLS[call]
    error = refusal(function, **{**given_too, field: junk})
    if error is not None:
        assert isinstance(error, ValueError)
        assert error.field
        assert error.rule
        assert len(str(error)) < 1000
        assert "\n" not in str(error)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
