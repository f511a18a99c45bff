"""How a family is fitted: what a device is drawn to, alone and among others."""

from __future__ import annotations

import numpy as np
import pytest

from blueprint_nb.calibration.fitting import Fitting
from blueprint_nb.calibration.predict_calibrated import Calibrated
from blueprint_nb.calibration.sample import Sample
from blueprint_nb.cost.families import Machine
from blueprint_nb.cost.families.row_wise import ROW_WISE
from blueprint_nb.cost.octaves import octave_of

ADD = next(family for family in ROW_WISE if family.name == "add")
STARTS = {one.name: one.start for one in ADD.parameters}


def adds(bandwidth: float) -> list[Sample]:
    """That wait 4 µs, twice their start, and reach a fraction of 2 TB/s."""
    machine = Machine(compute_units=100, matrix_flops=3e14, bytes_per_second=2e12, l2_bytes=40 * 2**20, element_bytes=2)
    rows = np.unique(np.geomspace(1, 10_000, 60).astype(np.int64))
    shape = {"rows": rows, "width": np.full(len(rows), 4096)}
    values = {**STARTS, "floor_seconds": 4e-6, "bandwidth_fraction": bandwidth}
    seconds = ADD.seconds(ADD.prepare(shape, machine), values)
    return [Sample(machine, shape, seconds, np.zeros(len(rows), dtype=np.int64), octave_of(rows))]


TWO = {"slow": adds(0.5), "fast": adds(1.0)}


def test_a_device_alone_is_drawn_to_the_starts_by_the_start_strength_alone():
    alone = {"slow": TWO["slow"]}
    free = Fitting(pool_strength=100.0).of_devices(ADD, alone, ["slow"])["slow"]
    held = Fitting(start_strength=100.0).of_devices(ADD, alone, ["slow"])["slow"]
    assert free["floor_seconds"] > 1.5 * STARTS["floor_seconds"]
    assert held["floor_seconds"] == pytest.approx(STARTS["floor_seconds"], rel=0.02)


@pytest.mark.parametrize("strength", [0.0, 100.0])
def test_what_one_device_teaches_of_another_is_what_fits_it(strength: float):
    alone = {"slow": TWO["slow"]}
    fitting = Fitting(start_strength=strength)
    assert fitting.of_all(ADD, alone) == fitting.of_devices(ADD, alone, ["slow"])["slow"]
    priced = Calibrated(fitting).learned(ADD, alone)
    assert (priced("unheard of", TWO["slow"][0]) == priced("slow", TWO["slow"][0])).all()


def test_of_several_devices_each_is_drawn_to_what_fits_all():
    def apart(strength: float) -> float:
        found = Fitting(pool_strength=strength).of_devices(ADD, TWO, TWO)
        return found["fast"]["bandwidth_fraction"] / found["slow"]["bandwidth_fraction"]

    assert apart(1e-4) > 1.5
    assert apart(100.0) == pytest.approx(1.0, rel=0.02)


def test_only_devices_that_are_asked_for_and_were_measured_are_fitted():
    found = Fitting().of_devices(ADD, TWO, ["fast", "unheard of"])
    assert found == {"fast": Fitting().of_devices(ADD, TWO, TWO)["fast"]}
    assert Fitting().of_devices(ADD, {}, ["fast"]) == {}


def test_values_have_six_digits():
    for value in Fitting().of_all(ADD, TWO).values():
        assert value == float(f"{value:.6g}")
