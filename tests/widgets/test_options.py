from __future__ import annotations

import pytest
from blueprint_nb_widgets.options import is_what_if, ladder, options_for

from blueprint_nb import load_model, load_system
from blueprint_nb.analysis.providers import calibrations_of
from blueprint_nb.catalog import model_names, system_names


def options(model: str, system: str = "h100_80g_nvl8"):
    return options_for(load_model(model), load_system(system))


def what_if(system: str):
    return load_system(system).with_overrides({"memory.bandwidth_gb_per_s": 4000})


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
    assert (choice.offered, choice.default) == (("peak-only", "calibrated"), "calibrated")
    assert choice.reason == (
        "system-evidence: h200_141g_sxm has no measured efficiency "
        "(matrix.efficiency, vector.efficiency, memory.efficiency and 2 more)"
    )


def test_a_reference_preset_offers_every_mode_starts_at_its_own_and_has_nothing_to_explain():
    choice = options("llama-3.1-8b").mode
    assert (choice.offered, choice.default) == (("peak-only", "system-evidence", "calibrated"), "system-evidence")
    assert choice.reason == ""


def test_a_system_without_curves_and_without_the_figures_of_a_device_is_left_with_peaks():
    bare = load_system("h200_141g_sxm").with_overrides({"compute_units": None, "l2_cache_mib": None})
    choice = options_for(load_model("llama-3.1-8b"), bare).mode
    assert (choice.offered, choice.default) == (("peak-only",), "peak-only")
    assert choice.reason.endswith(f"; calibrated: {bare.name} lacks compute_units and l2_cache_mib")


def test_calibrations_of_a_measured_system_have_its_own_first_and_need_no_words():
    choice = options("llama-3.1-8b", "h100_80g_sxm").calibration
    assert choice.offered == calibrations_of(load_system("h100_80g_sxm"))
    assert choice.default == choice.offered[0] != "pooled"
    assert choice.reason == ""


def test_a_what_if_is_priced_by_the_pooled_calibration_alone():
    choice = options_for(load_model("llama-3.1-8b"), what_if("h100_80g_sxm")).calibration
    assert choice.offered == ("pooled",)
    assert choice.reason == "What-if: priced by the pooled calibration"


def test_so_is_a_device_that_nobody_measured():
    choice = options("llama-3.1-8b", "mi300x_192g").calibration
    assert choice.offered == ("pooled",)
    assert choice.reason == "Never measured: priced by the pooled calibration"


def test_a_what_if_of_a_what_if_is_one_and_a_system_as_published_is_none():
    assert is_what_if(what_if("h100_80g_sxm").with_overrides({"compute_units": 200}))
    assert not is_what_if(load_system("h100_80g_sxm"))


@pytest.mark.parametrize("system", system_names())
@pytest.mark.parametrize("model", model_names())
def test_every_model_on_every_system_has_something_to_choose(model, system):
    found = options(model, system)
    assert 1 in found.tensor_parallel.offered
    assert 1 in found.pipeline_parallel.offered
    for choice in (found.mode, found.calibration, found.datatype):
        assert choice.default in choice.offered


def test_slider_stops_grow_by_factors_and_end_at_the_most():
    assert ladder(20) == (1, 2, 3, 4, 6, 8, 12, 16, 20)
    assert ladder(8) == (1, 2, 3, 4, 6, 8)
    assert ladder(1) == (1,)
    assert ladder(131_072)[-3:] == (65_536, 98_304, 131_072)
