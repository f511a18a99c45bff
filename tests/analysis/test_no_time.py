"""Steps that were asserted to take no time: they have no rate and no share, and nothing divides by them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import blueprint_nb as bp
from blueprint_nb.analysis.mapping_table import mapping_table
from blueprint_nb.analysis.rates import rate_text, ratio, share_text

MODEL, SYSTEM = "llama-3.1-8b", "h100_80g_sxm"
SHORT = {"prompt_tokens": 8, "generated_tokens": 4}
NAMES = bp.estimate(MODEL, SYSTEM, **SHORT).components["component"].unique(maintain_order=True).to_list()
NOTHING = dict.fromkeys(NAMES, 0.0)


def asserting(asserted: Any, **arguments: Any) -> bp.Estimate:
    return bp.estimate(MODEL, SYSTEM, **SHORT, **arguments, asserted=asserted)


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from numbers(one)
    elif isinstance(value, (int, float)):
        yield float(value)


@pytest.mark.parametrize("mode", ["peak-only", "calibrated"])
def test_a_request_that_takes_no_time_has_no_rate(mode: str) -> None:
    est = asserting(NOTHING, mode=mode)
    assert (est.prefill_seconds, est.mean_decode_step_seconds, est.model_execution_seconds) == (0, 0, 0)
    assert (est.tokens_per_second, est.tokens_per_second_per_sequence) == (None, None)
    content = json.loads(est.to_json())
    assert (content["tokens_per_second"], content["tokens_per_second_per_sequence"]) == (None, None)
    assert "no rate, as it takes no time, on 1 device" in est.summary()


def test_its_mappings_have_none_either() -> None:
    table = mapping_table(asserting(NOTHING).inputs, most_devices=1)
    rates = ("tokens_per_second", "tokens_per_second_per_device", "tokens_per_second_per_sequence")
    assert [table[name].to_list() for name in rates] == [[None]] * 3


def test_a_sweep_has_its_seconds() -> None:
    frame = bp.sweep(MODEL, SYSTEM, batch_size=[1, 2], asserted=NOTHING)
    assert frame["seconds"].to_list() == [0, 0]


def test_one_component_that_takes_time_makes_a_rate() -> None:
    est = asserting({**NOTHING, "qkv_projection": 1e-3})
    # 32 blocks, a prefill and three decode steps, four tokens.
    assert est.tokens_per_second == pytest.approx(4 / (4 * 32 * 1e-3))


@given(
    st.dictionaries(
        st.sampled_from(NAMES), st.just(0.0) | st.floats(1e-15, 1e9) | st.sampled_from([1e-15, 1e9]), min_size=1
    )
)
def test_whatever_is_asserted_the_json_holds_finite_numbers(some: dict[str, float]) -> None:
    content = json.loads(asserting({**NOTHING, **some}, mode="peak-only").to_json())
    assert all(map(math.isfinite, numbers({name: value for name, value in content.items() if name != "plans"})))


def test_what_there_is_none_of_is_a_dash() -> None:
    assert ratio(3.0, 0.0) is None
    assert ratio(3.0, 2.0) == 1.5
    assert (rate_text(None), rate_text(None, "tokens/s"), share_text(None)) == ("–", "–", "–")
    assert (rate_text(118.4, "tokens/s"), share_text(0.248)) == ("118 tokens/s", "24.8 %")
