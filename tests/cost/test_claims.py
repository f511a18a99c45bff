"""Claims on one component, put together point by point."""

from __future__ import annotations

import numpy as np

from blueprint_nb.cost import Band, Claim, ComponentCost
from blueprint_nb.cost.claims import covers_all, merged


def claimed(seconds: float, correlation: float, covers: list[bool]) -> Claim:
    band = Band(np.full(2, seconds / 2), np.full(2, seconds * 2))
    cost = ComponentCost(0.0, 0.0, 0.0, np.full(2, seconds), band=band, family="gemm", correlation=correlation)
    return Claim(cost, np.array(covers))


def test_each_point_keeps_the_figures_of_the_one_that_covers_it() -> None:
    both = merged(claimed(1.0, 0.0, [True, False]), claimed(4.0, 0.5, [True, True]))
    assert covers_all(both)
    assert both.cost.seconds.tolist() == [1.0, 4.0]
    assert both.cost.band is not None
    assert both.cost.band.high_seconds.tolist() == [2.0, 8.0]
    assert both.cost.correlation.tolist() == [0.0, 0.5]
