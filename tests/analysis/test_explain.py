"""`Estimate.explain`: one step, component by component, with the terms of each by the names of its form."""

from __future__ import annotations

import re

import polars as pl
import pytest

import blueprint_nb as bp
from blueprint_nb.errors import BlueprintError

REQUEST = {"batch_size": 8, "prompt_tokens": 2048, "generated_tokens": 4}


@pytest.fixture(scope="module")
def estimate() -> bp.Estimate:
    return bp.estimate("llama-3.1-8b", "a100_80g_pcie", **REQUEST)


def one(frame: pl.DataFrame, component: str) -> dict[str, object]:
    return frame.row(by_predicate=pl.col("component") == component, named=True)


def test_a_product_is_told_in_its_terms_and_in_words(estimate: bp.Estimate) -> None:
    row = one(estimate.explain("prefill"), "mlp_down")
    assert row["count"] == 32
    assert row["bound"] == "compute"
    assert row["provider"] == "calibrated:vidur"
    words = r"[\d,]+ CTAs on 108 SMs: \d+ waves, \d+ % full; compute \d\.\d\d ms; floor \d\.\d\d µs"
    assert re.fullmatch(words, str(row["explanation"]))
    terms = {name: row[f"{name}_seconds"] for name in ("floor", "compute", "memory", "l2", "split")}
    joined = terms["floor"] + sum(terms[name] ** 3 for name in ("compute", "memory", "l2")) ** (1 / 3) + terms["split"]
    assert row["seconds"] == pytest.approx(joined)
    assert row["waves_seconds"] is None
    assert row["low_seconds"] < row["seconds"] < row["high_seconds"]


def test_its_seconds_are_those_of_the_frame_of_components(estimate: bp.Estimate) -> None:
    of_step = {"prefill": 2048, "decode": 2050}
    for phase, context in of_step.items():
        frame = estimate.components.filter(phase=phase, context_tokens=context)
        explained = estimate.explain(phase, context)
        for column in ("component", "count", "seconds", "low_seconds", "high_seconds", "bound", "provider", "match"):
            assert explained[column].to_list() == frame[column].to_list()


def test_the_last_step_is_meant_where_none_is_named(estimate: bp.Estimate) -> None:
    assert estimate.explain().equals(estimate.explain("decode", 2051))
    assert not estimate.explain().equals(estimate.explain("decode", 2049))


def test_an_analytical_mode_has_its_own_terms_and_no_words() -> None:
    frame = bp.estimate("llama-3.1-8b", "a100_80g_pcie", mode="peak-only", **REQUEST).explain()
    assert frame.columns[6:10] == ["compute_seconds", "memory_seconds", "network_seconds", "floor_seconds"]
    assert set(frame["explanation"]) == {""}
    assert frame.schema["low_seconds"] == pl.Float64
    assert frame["low_seconds"].null_count() == frame.height


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("decod",), "phase must be decode or prefill. Got 'decod'. Did you mean decode?"),
        (("decode", 2048), "context_tokens must be a visible context from 2,049 to 2,051. Got 2,048."),
        (("decode", "2050"), "context_tokens must be a visible context from 2,049 to 2,051. Got '2050'."),
        (("decode", 2050.0), "context_tokens must be a visible context from 2,049 to 2,051. Got 2050.0."),
        (("prefill", 7), "context_tokens is that of the prompt in the prefill, 2,048. Got 7. Leave it out."),
    ],
)
def test_a_step_that_is_not_there_is_refused(
    estimate: bp.Estimate, arguments: tuple[object, ...], message: str
) -> None:
    with pytest.raises(BlueprintError) as caught:
        estimate.explain(*arguments)
    assert str(caught.value) == message


def test_a_request_of_one_token_has_no_decode_step_to_explain() -> None:
    alone = bp.estimate("llama-3.1-8b", "a100_80g_pcie", prompt_tokens=16, generated_tokens=1)
    with pytest.raises(
        BlueprintError, match=r"^context_tokens must be a visible context of a decode step: there is none"
    ):
        alone.explain()
