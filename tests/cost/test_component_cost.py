"""A component's cost has one list of its figures: what is made read-only, picked or joined is all of them."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from blueprint_nb.cost import Band, ComponentCost, Origin

TIMES = ("compute_seconds", "memory_seconds", "network_seconds", "seconds", "floor_seconds")
FIGURES = (*TIMES, "correlation", "origin_index")
ORIGINS = (Origin("one", "", "", ""), Origin("other", "", "", ""))


def cost() -> ComponentCost:
    times = {name: np.full(3, 2.0 + place) for place, name in enumerate(TIMES)}
    return ComponentCost(
        **times,
        terms={"waves": np.full(3, 7.0), "floor": 8.0},
        band=Band(np.full(3, 0.5), np.full(3, 9.0)),
        family="gemm",
        correlation=np.array([0.0, 0.25, 0.0]),
        origins=ORIGINS,
        origin_index=np.array([0, 1, 0]),
    )


def test_all_its_arrays_are_named_once() -> None:
    assert sorted(values.max() for values in cost().arrays) == [0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 9]
    assert ComponentCost(1.0, 1.0, 1.0, 1.0).arrays == []


def test_a_change_is_made_to_every_figure_and_to_nothing_else() -> None:
    one = cost().mapped(lambda figures: np.broadcast_to(figures, (3,))[1].item())
    assert [getattr(one, name) for name in FIGURES] == [2.0, 3.0, 4.0, 5.0, 6.0, 0.25, 1]
    assert (one.terms, one.band) == ({"waves": 7.0, "floor": 8.0}, Band(0.5, 9.0))
    assert (one.family, one.origins) == ("gemm", ORIGINS)
    assert cost().mapped(lambda figures: figures).times.keys() == dict.fromkeys(TIMES).keys()


def test_without_a_band_there_is_none_to_change() -> None:
    assert ComponentCost(1.0, 1.0, 1.0, 1.0).mapped(lambda figures: figures + 1) == ComponentCost(
        2.0, 2.0, 2.0, 2.0, floor_seconds=1.0, correlation=2.0, origin_index=1
    )


def test_each_field_is_a_figure_or_known_to_be_none() -> None:
    others = {"terms", "band", "family", "origins"}
    assert {one.name for one in fields(ComponentCost)} == {*FIGURES, *others}
