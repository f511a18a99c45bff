from __future__ import annotations

import pytest
from blueprint_nb_widgets.options import ladder, options_for

from blueprint_nb import load_model, load_system
from blueprint_nb.catalog import model_names, system_names


def options(model: str, system: str = "h100_80g_nvl8"):
    return options_for(load_model(model), load_system(system))


def test_tp_offers_what_divides_the_heads_and_fits_the_tier():
    assert options("llama-3.1-8b").tensor_parallel.offered == (1, 2, 4, 8)


def test_the_line_below_tp_says_why_the_others_are_not_offered():
    assert options("llama-3.1-8b").tensor_parallel.reason == (
        "3, 5–7: must divide the 32 attention heads; "
        "9–32: must be at most 8, the ranks that network tier 0 (in the box) of h100_80g_nvl8 reaches"
    )


def test_each_rule_of_tp_has_its_own_numbers():
    assert options("qwen2.5-7b").tensor_parallel.reason == (
        "3, 5, 6, 8: must divide the 28 attention heads; 7: must divide the feed-forward size, 18,944; "
        "9–28: must be at most 8, the ranks that network tier 0 (in the box) of h100_80g_nvl8 reaches"
    )


def test_a_box_of_cards_without_a_switch_offers_all_its_ranks():
    choice = options("llama-3.1-8b", "a40_48g").tensor_parallel
    assert choice.offered == (1, 2, 4, 8)


def test_pp_offers_what_divides_the_blocks():
    choice = options("llama-3.1-405b").pipeline_parallel
    assert choice.offered == (1, 2, 3, 6, 7, 9, 14, 18, 21, 42, 63, 126)
    assert choice.reason.startswith("4, 5, 8, 10–13, 15–17, 19, 20, 22–41")
    assert choice.reason.endswith(": must divide the 126 blocks")


def test_only_datatypes_with_a_peak_are_offered():
    choice = options("llama-3.1-8b").datatype
    assert choice.offered == ("float16", "float8")
    assert choice.reason == "float32, bfloat16: h100_80g_nvl8 has no peak for them"


def test_a_datasheet_offers_no_system_evidence_and_names_what_it_lacks():
    choice = options("llama-3.1-8b", "h200_141g_sxm").mode
    assert choice.offered == ("peak-only",)
    assert choice.reason.startswith("system-evidence: h200_141g_sxm has no measured efficiency (matrix.efficiency, ")


def test_a_system_with_curves_offers_both_modes_and_has_nothing_to_explain():
    choice = options("llama-3.1-8b").mode
    assert choice.offered == ("peak-only", "system-evidence")
    assert choice.reason == ""


@pytest.mark.parametrize("system", system_names())
@pytest.mark.parametrize("model", model_names())
def test_every_model_on_every_system_has_something_to_choose(model, system):
    found = options(model, system)
    assert 1 in found.tensor_parallel.offered
    assert 1 in found.pipeline_parallel.offered
    assert found.datatype.offered
    assert found.mode.offered


def test_slider_stops_grow_by_factors_and_end_at_the_most():
    assert ladder(20) == (1, 2, 3, 4, 6, 8, 12, 16, 20)
    assert ladder(8) == (1, 2, 3, 4, 6, 8)
    assert ladder(1) == (1,)
    assert ladder(131_072)[-3:] == (65_536, 98_304, 131_072)
