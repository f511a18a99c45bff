"""Points and steps that are faster than smaller ones, and why they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import blueprint_nb as bp
from blueprint_nb.analysis.falls import Fall, falling_points, falls_of
from blueprint_nb.evidence import observation_frame


def test_a_larger_batch_that_is_faster_is_found() -> None:
    # 220.98 µs a block at batch 19 and 171.21 µs at batch 20: the step of the memory curve.
    frame = bp.sweep("phi-2-dense-mha", "a100_80g", batch_size=[20, 19, 18], context_tokens=129)
    assert falling_points(frame)["batch_size"].to_list() == [20]


def test_a_longer_context_that_is_faster_is_found_whatever_the_order() -> None:
    contexts = [*range(1000, 90, -1)]
    frame = bp.sweep("phi-2-dense-mha", "a100_80g", context_tokens=contexts)
    assert falling_points(frame)["context_tokens"].to_list() == [976, 97]


def test_mappings_are_not_compared_with_each_other() -> None:
    frame = bp.sweep("llama-2-7b", "h100_80g_sxm", tensor_parallel=[1, 3, 8], mode="peak-only", context_tokens=[64, 65])
    assert falling_points(frame).is_empty()


def test_one_point_given_twice_does_not_fall() -> None:
    frame = bp.sweep("phi-2-dense-mha", "a100_80g", batch_size=[20, 20], context_tokens=[129, 129])
    assert falling_points(frame).is_empty()


def falls(system: str, model: str = "phi-2", **arguments: Any) -> list[Fall]:
    est = bp.estimate(model, system, **{"prompt_tokens": 64, "generated_tokens": 100, **arguments})
    return falls_of(est, est.drop_indices)


def test_a_fall_by_a_curve_is_the_curve_s() -> None:
    assert falls("a100_80g", "phi-2-dense-mha") == [
        Fall(
            97,
            ("attention_core",),
            "efficiency step",
            "a step of the cost mode's efficiency curve, not a behaviour of the machine",
        )
    ]


@pytest.mark.parametrize("mode", ["calibrated", "peak-only"])
@pytest.mark.parametrize("system", ["a100_80g_pcie", "h100_80g_sxm"])
def test_forms_and_peaks_never_fall(system: str, mode: str) -> None:
    assert falls(system, "llama-3.1-8b", mode=mode, batch_size=7, generated_tokens=3000) == []


def decode_attention(context: int) -> dict[str, int]:
    """Of phi-2 with one sequence."""
    sizes = {"heads": 32, "kv_heads": 32, "head_size": 80}
    return {"batch": 1, "query_tokens": 1, "context_tokens": context, **sizes}


@pytest.mark.parametrize("mode", ["calibrated", "peak-only"])
def test_an_asserted_time_ends_where_it_was_asserted(tmp_path: Path, mode: str) -> None:
    shape, path = decode_attention(90), tmp_path / "mine.csv"
    path.write_text(f"family,{','.join(shape)},seconds\nattention_decode,{','.join(map(str, shape.values()))},1e-3\n")
    why = "an asserted time, which need not lie on the line of its neighbours"
    assert falls("a100_80g_pcie", mode=mode, asserted=path) == [Fall(91, ("attention_core",), "asserted time", why)]


def test_a_measured_time_may_be_shorter_than_the_one_before() -> None:
    frames = [
        observation_frame(
            {"record": [f"attention.csv:{context}"]}, target="a100_80g_pcie", family="attention_decode", component="op",
            datatype="float16", software="vidur", seconds=seconds, source="mine", source_revision="r1",
            file_sha256="0" * 64, licence="MIT", **decode_attention(context),
        )
        for context, seconds in ((90, 2e-3), (91, 1e-3))
    ]  # fmt: skip
    found = falls("a100_80g_pcie", evidence=pl.concat(frames))
    assert [(one.context_tokens, one.components, one.label) for one in found] == [
        (context, ("attention_core",), "measured time") for context in (91, 92)
    ]
    assert {one.why for one in found} == {"a measured time, which need not lie on the line of its neighbours"}
