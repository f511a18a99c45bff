from __future__ import annotations

from blueprint_nb import load_model, load_system
from blueprint_nb.analysis.mapping_faults import MappingFault, mapping_faults, ranges
from blueprint_nb.mapping import NetworkTierBinding


def faults(system, most, **network):
    return mapping_faults(load_model("llama-3.1-8b"), system, NetworkTierBinding(**network), most, most)


def test_what_the_network_does_not_reach_is_told_apart_from_what_does_not_divide():
    assert faults(load_system("h100_80g_nvl8"), 12) == [
        MappingFault("TP", (3, 5, 6, 7), "must divide the 32 attention heads"),
        MappingFault(
            "TP",
            (9, 10, 11, 12),
            "must be at most 8, the ranks that network tier 0 (in the box) of h100_80g_nvl8 reaches",
        ),
        MappingFault("PP", (3, 5, 6, 7, 9, 10, 11, 12), "must divide the 32 blocks"),
    ]


def test_tp_is_held_to_the_tier_that_carries_it():
    wide = faults(load_system("h100_80g_nvl8"), 12, tensor_parallel_network=1)
    assert {fault.rule for fault in wide} == {"must divide the 32 attention heads", "must divide the 32 blocks"}


def test_stages_need_a_tier_that_reaches_two():
    alone = load_system("h100_80g_nvl8").with_overrides({"network.1.max_ranks": 1})
    (pipeline,) = [one for one in faults(alone, 4, pipeline_parallel_network=1) if one.axis == "PP"]
    assert pipeline.sizes == (2, 3, 4)
    assert pipeline.text.startswith("2–4: must be at most 1, the ranks that network tier 1 (")


def test_numbers_read_as_ranges_and_long_lists_are_cut():
    assert ranges([3, 5, 6, 9, 10, 11]) == "3, 5, 6, 9–11"
    assert ranges([]) == ""
    assert ranges(range(1, 40, 2)) == "1, 3, 5, 7, 9, 11, 13, 15, …"
