"""The shipped parameter files: what they must be, and that the same data makes them again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from blueprint_nb.calibration.run import calibrate
from blueprint_nb.calibration.vidur_sets import vidur_studies
from blueprint_nb.catalog import load_system, profiles_folder
from blueprint_nb.cost.calibration import CalibrationSet, FamilyFit
from blueprint_nb.cost.families import Family, form_of, link_of
from blueprint_nb.evidence.vidur import VidurProfileImporter

FOLDER = profiles_folder() / "calibration"
FILES = sorted(FOLDER.rglob("*.json"))
LARGEST_BYTES = 90_000


def read(path: Path) -> CalibrationSet:
    return CalibrationSet(**json.loads(path.read_text(encoding="utf-8")))


def form(key: str, fit: FamilyFit) -> Family:
    name = key.partition(":")[0].partition("@")[0]
    link = fit.link or link_of(load_system("a100_80g_sxm").network[0])
    return form_of(name, kernel=fit.kernel, link=link, own_bytes=fit.own_bytes)


@pytest.fixture(params=FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_a_file_stands_where_its_system_and_name_say(path: Path):
    found = read(path)
    expected = FOLDER.joinpath(*found.systems[:1], f"{found.name}.json")
    assert path == expected


def test_a_file_is_small_and_written_in_one_way(path: Path):
    content = path.read_text(encoding="utf-8")
    assert len(content.encode()) < LARGEST_BYTES
    assert content == json.dumps(json.loads(content), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("key", ["rms_norm", "gated_activation", "rope", "add", "embedding"])
def test_an_unseen_device_is_known_no_better_than_a_measured_one(key: str):
    pooled = {one.octave: one.reach for one in read(FOLDER / "pooled.json").families[key].residuals}
    sets = [read(FOLDER / system / "vidur.json") for system in ("a100_80g_pcie", "h100_80g_sxm", "a40_48g")]
    own = [{one.octave: one.reach for one in found.families[key].residuals} for found in sets]
    assert pooled.keys() == own[0].keys()
    for octave, reach in pooled.items():
        assert reach >= sorted(found[octave] for found in own)[1] - 1e-5, octave


def test_no_family_is_nearer_to_what_it_never_saw_than_to_what_it_was_fitted_to(path: Path):
    """Folds that all end lower than the fit of everything say that it stopped in a bad optimum."""
    for key, fit in read(path).families.items():
        for label, figures in fit.held_out.items():
            if "folds" in label:
                assert fit.in_sample.mape_percent < 1.03 * figures.mape_percent, key


def test_a_family_has_at_most_twenty_parameters_within_their_bounds(path: Path):
    for key, fit in read(path).families.items():
        parameters = {one.name: one for one in form(key, fit).parameters}
        assert set(fit.values) == set(parameters), key
        assert len(parameters) <= 20
        for name, value in fit.values.items():
            lowest, highest = parameters[name].lowest, parameters[name].highest
            # Values are written down with six digits.
            assert lowest - 1e-5 * abs(lowest) <= value <= highest + 1e-5 * abs(highest), (key, name)


def test_a_collective_is_of_a_tier_that_its_system_has(path: Path):
    found = read(path)
    for system in found.systems[:1]:
        tiers = {tier.name: link_of(tier) for tier in load_system(system).network}
        for key, fit in found.families.items():
            if "@" in key:
                assert fit.link == tiers[key.partition("@")[2]]


def test_every_family_says_what_it_is_worth_on_what_it_did_not_see(path: Path):
    found = read(path)
    for key, fit in found.families.items():
        assert fit.in_sample.rows > 0, key
        assert fit.held_out, key
        octaves = [one.octave for one in fit.residuals]
        assert octaves == sorted(set(octaves)), key
        assert all(one.widened <= one.reach for one in fit.residuals), key
        is_of_one_gpu = not found.systems and (key == "point_to_point" or key.endswith("@PCIe"))
        assert (fit.coverage_percent is None) == is_of_one_gpu, key


def test_bands_of_measured_devices_hold_nine_of_ten_kernels_they_were_not_made_of():
    """85 to 95 %, family by family."""
    outside = {
        (one.systems[0], key): fit.coverage_percent
        for one in map(read, sorted(FOLDER.glob("*/*.json")))
        for key, fit in one.families.items()
        if not 85 <= (fit.coverage_percent or 0.0) <= 95
    }
    assert outside == {}


def test_the_pool_s_bands_hold_nine_of_ten_kernels_of_a_gpu_left_out_where_more_than_three_gpus_were_measured():
    """Two GPUs tell little of a third, so the row-wise families may fall outside."""
    found = {key: fit.coverage_percent for key, fit in read(FOLDER / "pooled.json").families.items()}
    outside = {key: share for key, share in found.items() if share is not None and not 85 <= share <= 95}
    assert outside.keys() <= {"add", "rms_norm", "rope", "gated_activation", "embedding"}


def test_a_set_of_a_device_has_the_figures_it_was_fitted_with(path: Path):
    found = read(path)
    assert (found.machine is None) == (not found.systems)


@pytest.mark.parametrize("target", ["a40"])
def test_the_same_data_makes_the_file_again(vidur_data: Path, target: str):
    """Values within a millionth: GEMM and the row-wise families of one device, pool and all."""
    shipped = read(FOLDER / "a40_48g" / "vidur.json")
    importer = VidurProfileImporter(source_revision=shipped.source_revision)
    studies = [replace(study, splits={}) for study in vidur_studies(importer.read_folder(vidur_data).observations)]
    (again,) = calibrate(studies, shipped.name, lambda _: None, [target])
    assert again.families.keys() == shipped.families.keys()
    for key, fit in again.families.items():
        assert fit.observations_digest == shipped.families[key].observations_digest
        assert fit.values == pytest.approx(shipped.families[key].values, rel=1e-6), key
        assert fit.in_sample == shipped.families[key].in_sample
