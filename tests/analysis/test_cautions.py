"""What is legal but may not be what was meant."""

from __future__ import annotations

import pytest

import blueprint_nb as bp
from blueprint_nb.analysis import cautions


def cautions_of(**mapping: int) -> list[str]:
    return cautions(bp.estimate("llama-3.1-70b", "h100_80g_nvl8", generated_tokens=2, **mapping).inputs)


@pytest.mark.parametrize("mapping", [{"tensor_parallel": 8}, {"tensor_parallel": 4, "pipeline_parallel": 2}])
def test_a_replica_that_its_network_reaches_needs_no_caution(mapping: dict[str, int]) -> None:
    assert cautions_of(**mapping) == []


def test_stages_beyond_the_box_over_the_links_in_it_are_cautioned() -> None:
    assert cautions_of(tensor_parallel=8, pipeline_parallel=2) == [
        "The 16 devices of a replica are more than the 8 that network tier 0 (in the box) reaches, yet it carries every "
        "hop between stages: where stages stand apart, bind pipeline_parallel_network to another tier."
    ]
    assert cautions_of(tensor_parallel=8, pipeline_parallel=2, pipeline_parallel_network=1) == []
