"""Fitting the parameters of a cost form: they are found again, the same each time, and on a lattice."""

from __future__ import annotations

import numpy as np
import pytest

from blueprint_nb.calibration.fit import Pool, fit
from blueprint_nb.calibration.sample import Sample, balanced_weights
from blueprint_nb.calibration.space import LATTICE, ParameterSpace
from blueprint_nb.cost.families import Gemm, Machine
from blueprint_nb.cost.families.row_wise import ROW_WISE
from blueprint_nb.cost.octaves import octave_of

ADD = next(family for family in ROW_WISE if family.name == "add")
A100 = Machine(compute_units=108, matrix_flops=312e12, bytes_per_second=1.935e12, l2_bytes=40 * 2**20, element_bytes=2)
TRUE = {
    "floor_seconds": 1.8e-6,
    "row_seconds": 2e-7,
    "chunk_seconds": 1e-7,
    "rows_at_once": 6.0,
    "wave_smoothness": 0.9,
    "bandwidth_fraction": 0.9,
    "l2_gain": 1.5,
    "l2_share": 1.0,
    "l2_steepness": 4.0,
}


def made(noise: float = 0.0) -> Sample:
    """Adds that take exactly what TRUE says, or nearly."""
    rows = np.unique(np.geomspace(1, 20_000, 120).astype(np.int64))
    shape = {
        "rows": np.tile(rows, 2),
        "width": np.repeat(np.array([4096, 8192], dtype=np.int64), len(rows)),
    }
    seconds = ADD.seconds(ADD.prepare(shape, A100), TRUE)
    wobble = np.exp(noise * np.random.default_rng(1).standard_normal(len(seconds)))
    group = np.zeros(len(seconds), dtype=np.int64)
    return Sample(A100, shape, seconds * wobble, group, octave_of(shape["rows"]))


def test_a_form_finds_its_own_times_again():
    found = fit(ADD, [made()])
    assert found.loss < 0.005
    assert found.values["floor_seconds"] == pytest.approx(1.8e-6, rel=0.05)
    assert found.values["bandwidth_fraction"] == pytest.approx(0.9, rel=0.03)


def test_a_fit_is_the_same_each_time():
    assert fit(ADD, [made(noise=0.03)]) == fit(ADD, [made(noise=0.03)])


def test_a_fit_ends_on_the_lattice_whatever_rounding_did_to_the_measurements():
    sample = made(noise=0.03)
    nudged = Sample(sample.machine, sample.shape, sample.seconds * (1 + 1e-13), sample.group, sample.octave)
    first, second = fit(ADD, [sample]), fit(ADD, [nudged])
    assert first.values == second.values
    vector = ParameterSpace(ADD).vector(first.values)
    inside = (vector > ParameterSpace(ADD).lowest) & (vector < ParameterSpace(ADD).highest)
    steps = vector[inside] / LATTICE
    assert np.allclose(steps, np.round(steps), atol=1e-6)


def test_a_strong_pool_holds_what_a_machine_alone_would_move():
    pooled = {**TRUE, "floor_seconds": 4e-6}
    free = fit(ADD, [made()], starts=[pooled])
    held = fit(ADD, [made()], starts=[pooled], pool=Pool(pooled, strength=100.0))
    assert free.values["floor_seconds"] == pytest.approx(1.8e-6, rel=0.05)
    assert held.values["floor_seconds"] == pytest.approx(4e-6, rel=0.02)


def test_machines_are_fitted_together():
    fast = A100.model_copy(update={"bytes_per_second": 3.35e12, "compute_units": 132})
    one = made()
    other = Sample(fast, one.shape, ADD.seconds(ADD.prepare(one.shape, fast), TRUE), one.group, one.octave)
    found = fit(ADD, [one, other])
    assert found.loss < 0.01


def test_values_stay_within_their_bounds():
    space = ParameterSpace(Gemm())
    for vector in (space.lowest - 1.0, space.highest + 1.0):
        for one in Gemm().parameters:
            assert one.lowest <= space.values(vector)[one.name] <= one.highest


def test_each_octave_of_each_component_has_the_same_say():
    group = np.array([0, 0, 0, 1, 1])
    octave = np.array([0, 0, 3, 3, 3])
    assert balanced_weights(group, octave).tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 6, 1 / 6])


def test_an_octave_begins_at_a_power_of_two():
    assert octave_of([1, 2, 3, 4, 7, 8, 4095, 4096]).tolist() == [0, 1, 1, 2, 2, 3, 11, 12]


def test_a_thinned_sample_is_the_same_for_the_same_seed_and_holds_each_row_once():
    sample = made()
    first, second = sample.thinned(50, seed=3), sample.thinned(50, seed=3)
    assert len(first) == 50
    assert (first.seconds == second.seconds).all()
    pairs = set(zip(first.shape["rows"].tolist(), first.shape["width"].tolist(), strict=True))
    assert len(pairs) == 50
    assert sample.thinned(10**6, seed=3) is sample
