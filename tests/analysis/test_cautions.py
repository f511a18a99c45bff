"""What is legal but may not be what was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import blueprint_nb as bp
from blueprint_nb.analysis import cautions


def cautions_of(**mapping: int) -> list[str]:
    return cautions(bp.estimate("llama-3.1-70b", "h100_80g_nvl8", generated_tokens=2, **mapping))


@pytest.mark.parametrize("mapping", [{"tensor_parallel": 8}, {"tensor_parallel": 4, "pipeline_parallel": 2}])
def test_a_replica_that_its_network_reaches_needs_no_caution(mapping: dict[str, int]) -> None:
    assert cautions_of(**mapping) == []


def test_stages_beyond_the_box_over_the_links_in_it_are_cautioned() -> None:
    assert cautions_of(tensor_parallel=8, pipeline_parallel=2) == [
        "The 16 devices of a replica are more than the 8 that network tier 0 (in the box) reaches, yet it carries every "
        "hop between stages: where stages stand apart, bind pipeline_parallel_network to another tier."
    ]
    assert cautions_of(tensor_parallel=8, pipeline_parallel=2, pipeline_parallel_network=1) == []


def asserting(asserted: Any, **arguments: Any) -> bp.Estimate:
    return bp.estimate(
        "llama-3.1-8b", "h100_80g_sxm", **{"prompt_tokens": 64, "generated_tokens": 4, **arguments}, asserted=asserted
    )


def test_what_was_asserted_but_nothing_asks_for_is_told_once_by_name() -> None:
    est = asserting({"rope": 1e-6, "mlp_all_reduce": 1e-6, "host_overhead": 1e-3})
    assert est.verdict.unasked == "asserted but not asked for: mlp_all_reduce, host_overhead"
    assert est.summary().endswith(f" · {est.verdict.unasked}")
    assert cautions(est) == []


def test_what_some_step_asks_for_is_not_told_of() -> None:
    est = asserting({"mlp_all_reduce": 1e-6, "host_overhead": 1e-3}, tensor_parallel=2, host_overhead=True)
    assert (est.verdict.unasked, cautions(est)) == ("", [])
    assert asserting(None).verdict.unasked == ""


def test_a_name_that_another_stands_before_is_told_of() -> None:
    names = {"residual_add": 1e-6, "attention_residual": 1e-6, "mlp_residual": 1e-6}
    assert asserting(names).verdict.unasked == "asserted but not asked for: residual_add"


def test_lines_of_a_file_are_told_of_by_their_shape_and_the_first_of_many(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    asked = ["gemm,1,6144,4096,1e-6,", "gemm,64,6144,4096,1e-6,float16"]
    unasked = ["gemm,64,6144,4096,1e-6,bfloat16", *(f"gemm,{m},6144,4096,1e-6," for m in (2, 65, 66))]
    path.write_text("\n".join(["family,m,n,k,seconds,datatype", *asked, *unasked]))
    assert asserting(path).verdict.unasked == (
        "asserted but not asked for: mine.csv:4 (gemm 64 × 6,144 × 4,096 bfloat16), mine.csv:5 (gemm 2 × 6,144 × "
        "4,096), mine.csv:6 (gemm 65 × 6,144 × 4,096) and 1 more"
    )


def test_a_sweep_warns_of_what_no_point_asks_for() -> None:
    asserted = {"mlp_all_reduce": 1e-6, "rope": 1e-6}
    with pytest.warns(UserWarning, match=r"^in this sweep, asserted but not asked for: mlp_all_reduce$"):
        bp.sweep("llama-3.1-8b", "h100_80g_sxm", tensor_parallel=[1, 3], asserted=asserted)


@pytest.mark.parametrize("by_component", [False, True])
def test_a_sweep_says_nothing_of_what_one_of_its_points_asks_for(by_component: bool) -> None:
    asserted = {"mlp_all_reduce": 1e-6}
    bp.sweep("llama-3.1-8b", "h100_80g_sxm", tensor_parallel=[1, 2], asserted=asserted, by_component=by_component)
