"""The host's time of a step: a form of its own, and a component behind those of the plan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.calibration.host import HOST_OPERATIONS, HOST_SPLIT, host_fit, host_steps
from blueprint_nb.cost import (
    HOST_OVERHEAD,
    AnalyticalProvider,
    AssertedProvider,
    CalibratedProvider,
    CostBlock,
    WithHostOverhead,
    bound_index,
)
from blueprint_nb.cost.families import form_of
from blueprint_nb.errors import InvalidInputError
from blueprint_nb.evidence import VidurProfileImporter, observation_frame

from .forms import seconds, starts, values_of
from .sets import A100, NETWORK, fit_of, grid, set_of, step

PEAK = AnalyticalProvider("peak-only")
FORM = form_of("host")


def with_host(values: dict[str, float]) -> WithHostOverhead:
    fitted = fit_of("host", values=values, ranges={"batch": (1, 128), "ranks": (1, 4)})
    return WithHostOverhead(PEAK, CalibratedProvider(set_of(families={"host": fitted})))


def host_of(block: CostBlock) -> tuple[int, float]:
    activity, cost = list(block.priced)[-1]
    assert activity.component == HOST_OVERHEAD
    return activity.executions, float(np.ravel(cost.seconds)[-1])


@given(values_of(FORM), st.integers(1, 5000), st.integers(1, 64))
def test_time_never_falls_as_sequences_or_ranks_grow(values: dict[str, float], batch: int, ranks: int) -> None:
    shapes = {"batch": [batch, batch + 1, batch, batch], "ranks": [ranks, ranks, ranks + 1, 1]}
    first, more, wider, alone = seconds(FORM, values, **shapes)
    assert more > first
    assert wider >= first >= alone > 0


def test_its_terms_add_up_and_it_says_them() -> None:
    values = starts(FORM, floor_seconds=1e-3, sequence_seconds=5e-5, workers_seconds=6e-3)
    assert seconds(FORM, values, batch=[32, 32], ranks=[1, 8]).tolist() == pytest.approx([2.6e-3, 8.6e-3])
    shape = {"batch": 32, "ranks": 8}
    assert FORM.explain(shape, None, values) == "32 sequences 1.60 ms; workers 6.00 ms; floor 1.00 ms"
    assert FORM.explain({"batch": 1, "ranks": 1}, None, values) == "1 sequence 50.0 µs; floor 1.00 ms"


@pytest.mark.parametrize(("ranks", "expected"), [(1, 1e-3 + 2 * 5e-5), (2, 1e-3 + 2 * 5e-5 + 6e-3)])
def test_a_step_has_it_once_behind_everything_else(ranks: int, expected: float) -> None:
    provider = with_host(starts(FORM, floor_seconds=1e-3, sequence_seconds=5e-5, workers_seconds=6e-3))
    block, plain = provider.cost(step(ranks), A100, NETWORK), PEAK.cost(step(ranks), A100, NETWORK)
    assert block.costs[:-1] == plain.costs
    assert host_of(block) == (1, pytest.approx(expected))
    assert float(block.seconds) == pytest.approx(float(plain.seconds) + expected)
    assert float(block.block_seconds) == float(plain.block_seconds)
    assert float(block.stack_seconds) == float(plain.stack_seconds)


def test_it_is_a_floor_of_the_layer_host_and_keeps_to_its_own_range() -> None:
    block = with_host(starts(FORM)).cost(grid([1, 500], [10]), A100, NETWORK)
    activity, cost = list(block.priced)[-1]
    assert (activity.source_layer, activity.primitive) == ("host", HOST_OVERHEAD)
    assert set(np.ravel(bound_index(activity, cost)).tolist()) == {3}
    index = np.ravel(np.broadcast_to(cost.origin_index, np.shape(cost.seconds)))
    assert [cost.origins[one].match for one in index.tolist()] == ["in range", "outside range: batch"]


def test_its_seconds_may_be_asserted() -> None:
    block = WithHostOverhead(PEAK, AssertedProvider({HOST_OVERHEAD: 5e-3})).cost(step(), A100, NETWORK)
    activity, cost = list(block.priced)[-1]
    assert float(cost.seconds) == 5e-3
    assert int(bound_index(activity, cost)) == 3


def test_a_file_may_give_it_by_sequences_and_ranks(tmp_path: Path) -> None:
    path = tmp_path / "host.csv"
    path.write_text("family,batch,ranks,seconds\nhost,2,2,7e-3\n")
    provider = AssertedProvider(path)
    assert provider.asserts_host
    assert host_of(WithHostOverhead(PEAK, provider).cost(step(2), A100, NETWORK)) == (1, 7e-3)


def _observed(**operations: list[float]) -> object:
    import polars as pl

    base = {"family": "host", "target": "a100", "software": "vidur", "source": "vidur", "source_revision": "r"}
    constant = {**base, "file_sha256": "0" * 64, "licence": "MIT"}
    shapes = {"batch": [8, 16, 8, 16], "tensor_parallel": [1, 1, 2, 2], "model": ["a", "a", "b", "b"]}
    records = [f"cpu_overheads.csv:{line}" for line in range(2, 6)]
    frames = [
        observation_frame({**shapes, "record": records, "seconds": times}, component=name, **constant)
        for name, times in operations.items()
    ]
    return pl.concat(frames)


def test_a_step_is_all_but_the_model_s_execution_and_what_is_inside_another_span() -> None:
    times = [1e-3] * 4
    spans = dict.fromkeys(HOST_OPERATIONS, times)
    inside = dict.fromkeys(("model_execution_e2e", "model_execution_launch", "sampler_launch"), [9.0] * 4)
    assert host_steps(_observed(**spans, **inside))["seconds"].to_list() == pytest.approx([5e-3] * 4)


def test_a_line_that_lacks_an_operation_is_no_step() -> None:
    spans = dict.fromkeys(HOST_OPERATIONS[1:], [1e-3] * 4)
    with pytest.raises(InvalidInputError, match=r"^observations must hold a step of the host with schedule, "):
        host_steps(_observed(**spans))


def test_a_fit_finds_what_made_the_times() -> None:
    pytest.importorskip("scipy")
    batch, ranks = np.array([8, 16, 8, 16]), np.array([1, 1, 2, 2])
    made = starts(FORM, floor_seconds=1e-3, sequence_seconds=4e-5, workers_seconds=7e-3)
    whole = seconds(FORM, made, batch=batch, ranks=ranks)
    rest = dict.fromkeys(HOST_OPERATIONS[1:], [1e-6] * 4)
    found = host_fit(_observed(schedule=(whole - 4e-6).tolist(), **rest))
    assert found.values == pytest.approx(made, rel=0.02)
    assert found.ranges == {"batch": (8, 16), "ranks": (1, 2)}
    assert found.in_sample.max_percent < 1


def test_vidur_s_host_is_fitted_within_a_few_percent(vidur_data: Path) -> None:
    pytest.importorskip("scipy")
    path = vidur_data / "profiling" / "cpu_overhead" / "a100" / "cpu_overheads.csv"
    if not path.exists():
        pytest.skip("There is no cpu_overheads.csv.")
    frame = VidurProfileImporter(source_revision="r").read(path, "cpu_overheads", target="a100").observations
    found = host_fit(frame)
    assert found.held_out[HOST_SPLIT].balanced_mape_percent < 5
    assert found.values["workers_seconds"] > found.values["floor_seconds"] > found.values["sequence_seconds"]
