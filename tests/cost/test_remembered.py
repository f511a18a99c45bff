"""Costs that were worked out before: the same to the last bit, read-only, few, and safe to share."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from architectures import decoder

from blueprint_nb.cost import Activity, CalibratedProvider, ComponentCost, CostBlock, calibrated
from blueprint_nb.cost.evaluation import kernel_times
from blueprint_nb.cost.families import Family, KernelTime, Machine
from blueprint_nb.cost.remembered import Remembered, shape_key

from .sets import A100, NETWORK, fit_of, grid, set_of, step

ACTIVITIES = {
    "one step": step(),
    "of two ranks": step(ranks=2),
    "a prefill": grid([2], [64], phase="prefill"),
    "many steps": grid([1, 7], range(90, 130)),
    "many steps again": grid([1, 7], range(90, 130)),
    "others": grid([1, 7], range(91, 131)),
    "of another model": grid([1, 7], range(91, 131), model=decoder(hidden_size=2048)),
}


@pytest.fixture(autouse=True)
def latest(monkeypatch: pytest.MonkeyPatch) -> Remembered:
    """What the providers of a test work out, and nobody before."""
    found = Remembered()
    monkeypatch.setattr(calibrated, "_LATEST", found)
    return found


def cost_of(seconds: float, points: int = 1) -> ComponentCost:
    column = np.full(points, seconds)
    return ComponentCost(column, column, column, column, terms={"memory": column.copy()})


def priced(activity: Activity, provider: CalibratedProvider | None = None) -> CostBlock:
    return (provider or CalibratedProvider(set_of())).cost(activity, A100, NETWORK)


def arrays(block: CostBlock) -> Iterator[Any]:
    for cost in block.costs:
        assert cost.band is not None
        own = (getattr(cost, field.name) for field in fields(cost) if field.name.endswith("seconds"))
        yield from (*own, cost.origin_index, *cost.terms.values(), cost.band.low_seconds, cost.band.high_seconds)


def said(block: CostBlock) -> list[Any]:
    """Everything that a block says, bits and all."""
    bits = [(np.shape(one), np.asarray(one).dtype, np.asarray(one).tobytes()) for one in arrays(block)]
    words = [(list(cost.terms), cost.family, cost.correlation, cost.origins) for cost in block.costs]
    return [bits, words]


@pytest.mark.parametrize("activity", ACTIVITIES.values(), ids=list(ACTIVITIES))
def test_what_was_worked_out_before_is_the_same_to_the_last_bit(
    activity: Activity, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setattr(calibrated, "_LATEST", Remembered(most_entries=0))
        anew = said(priced(activity))
    for other in ACTIVITIES.values():
        priced(other)
    assert said(priced(activity)) == anew


def test_a_kernel_that_a_plan_has_again_is_worked_out_once(latest: Remembered, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def noted(family: Family, shape: Any, machine: Machine, values: Any) -> KernelTime:
        asked.append(family.name)
        return kernel_times(family, shape, machine, values)

    monkeypatch.setattr(calibrated, "kernel_times", noted)
    first = priced(step())
    assert asked.count("rms_norm") == asked.count("add") == 1
    assert len(latest) == len(asked)
    again = priced(step())
    assert len(latest) == len(asked)
    assert [cost.seconds for cost in again.costs] == [cost.seconds for cost in first.costs]


def test_another_machine_or_set_is_not_taken_for_one_asked_before() -> None:
    fast = A100.with_overrides({"memory.bandwidth_gb_per_s": 4000})
    of_any = CalibratedProvider(set_of(systems=()))
    slow, quick = (of_any.cost(step(), system, NETWORK) for system in (A100, fast))
    assert float(quick.seconds) < float(slow.seconds)
    families = {**set_of().families, "gemm": fit_of("gemm", ranges=dict.fromkeys("mnk", (1, 2)))}
    narrow = priced(step(), CalibratedProvider(set_of(families=families)))
    whole = priced(step())
    gemm = next(place for place, cost in enumerate(whole.costs) if cost.family == "gemm")
    assert whole.costs[gemm].origins[0].match == "in range"
    assert narrow.costs[gemm].origins[0].match == "outside range: n, k"


def test_nobody_can_write_to_what_others_will_be_given() -> None:
    for block in (priced(step()), priced(step()), priced(grid([1, 7], [90, 91]))):
        for values in arrays(block):
            assert not getattr(getattr(values, "flags", None), "writeable", False)


def test_two_threads_at_once_are_given_what_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = [said(priced(activity)) for activity in ACTIVITIES.values()]
    few = Remembered(most_entries=9)
    monkeypatch.setattr(calibrated, "_LATEST", few)
    with ThreadPoolExecutor(2) as threads:
        rounds = list(threads.map(lambda activity: said(priced(activity)), [*ACTIVITIES.values()] * 6))
    assert rounds == alone * 6
    assert len(few) == 9
    assert few.held_bytes > 0


def test_only_those_asked_for_last_are_kept() -> None:
    some = Remembered(most_entries=2)
    first, second, third = (cost_of(seconds) for seconds in (1.0, 2.0, 3.0))
    some.keep("first", first)
    some.keep("second", second)
    assert some.get("first") is first
    some.keep("third", third)
    assert [some.get(key) for key in ("first", "second", "third")] == [first, None, third]


def test_bytes_are_bounded_too_and_a_large_cost_pushes_nobody_out() -> None:
    some = Remembered(most_bytes=100_000)
    for key in range(100):
        some.keep(key, cost_of(1.0, points=50))
        assert some.held_bytes <= 100_000
    kept = len(some)
    assert 10 < kept < 25
    some.keep("large", cost_of(1.0, points=10_000))
    assert some.get("large") is None
    assert len(some) == kept
    some.keep(99, cost_of(2.0, points=50))
    assert len(some) == kept


def test_shapes_are_told_apart_and_those_of_very_many_points_have_no_key() -> None:
    column = np.arange(1, 5)
    keys = [
        shape_key({"m": size, "n": 8})
        for size in (1, np.int64(2), column, column[:, None], column[::-1], column.reshape(2, 2))
    ]
    assert len(set(keys)) == len(keys)
    assert shape_key({"m": 1, "n": 8}) == shape_key({"m": np.array(1), "n": np.int64(8)})
    assert shape_key({"m": column, "n": 8}) == shape_key({"m": column.copy(), "n": 8})
    assert shape_key({"m": np.arange(5000), "n": 8}) is None
