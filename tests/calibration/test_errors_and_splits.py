"""What errors are counted, and what is held out of a fit."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from blueprint_nb.calibration.errors import Judged, error_figures
from blueprint_nb.calibration.fit import fit
from blueprint_nb.calibration.observed import samples_of, system_of
from blueprint_nb.calibration.residuals import correlation, held_out_residuals
from blueprint_nb.calibration.splits import (
    folds,
    leave_one_hidden_size_out,
    leave_one_model_out,
    up_to,
    without_value,
)
from blueprint_nb.cost.families import Gemm
from blueprint_nb.cost.families.row_wise import ROW_WISE
from blueprint_nb.errors import UnknownNameError
from blueprint_nb.evidence.vidur import VidurProfileImporter


def judged(measured: list[float], estimated: list[float], rows: list[int]) -> Judged:
    group = np.zeros(len(rows), dtype=np.int64)
    return Judged(np.array(measured), np.array(estimated), group, np.array(rows))


def test_errors_by_hand():
    """Off by +10 %, −20 % and +50 %; the last is within a microsecond, and alone in its octave."""
    figures = error_figures(judged([1e-4, 1e-4, 1e-6], [1.1e-4, 0.8e-4, 1.5e-6], [4, 5, 1]))
    assert figures.rows == 3
    assert figures.mape_percent == pytest.approx(80 / 3)
    assert figures.balanced_mape_percent == pytest.approx((15 + 50) / 2)
    assert figures.max_percent == pytest.approx(20)
    assert figures.p90_percent == pytest.approx(44)


def test_residuals_are_kept_by_octave():
    """Octave 0 is measured as estimated; octave 7 at half, once and four times as long."""
    measured = [1.0] * 60 + [0.5, 1.0, 4.0] * 20
    first, second = held_out_residuals(judged(measured, [1.0] * 120, [1] * 60 + [128, 192] * 30)).octaves
    assert (first.octave, first.rows, first.size, first.middle, first.reach) == (0, 60, 1.0, 0.0, 0.0)
    assert (second.octave, second.rows, second.size) == (7, 60, pytest.approx(128 * 1.5**0.5, abs=0.1))
    assert (second.middle, second.reach) == (0.0, pytest.approx(np.log(4), abs=1e-5))


def test_a_reach_is_to_both_sides_alike_as_the_next_part_may_err_to_the_other():
    """One in ten is a third as long, the others half: nine of ten lie within a factor of two, whatever its sign."""
    (octave,) = held_out_residuals(judged([1 / 3] * 6 + [0.5] * 54, [1.0] * 60, [1] * 60)).octaves
    assert (octave.middle, octave.reach) == pytest.approx((-np.log(2), np.log(2)), abs=1e-5)


def test_few_rows_of_an_octave_are_joined_by_their_neighbours():
    first, second, third = held_out_residuals(
        judged([1.0] + [2.0] * 60 + [8.0] * 60, [1.0] * 121, [1] + [2] * 60 + [64] * 60)
    ).octaves
    assert (first.rows, first.reach) == (1, pytest.approx(np.log(2), abs=1e-5))
    assert second.reach == first.reach
    assert third.reach == pytest.approx(np.log(8), abs=1e-5)


def test_an_octave_has_its_error_held_out_and_in_sample():
    seen, unseen = judged([1.0] * 60, [1.1] * 60, [4] * 60), judged([1.0] * 60, [1.2] * 60, [4] * 60)
    (octave,) = held_out_residuals(unseen, seen).octaves
    assert octave.mape_percent == pytest.approx(20)
    assert octave.in_sample_mape_percent == pytest.approx(10)


def noisy(parts: int, bias: float, seed: int = 5) -> Judged:
    """Rows of some parts, each with a bias of its own beside its noise."""
    generator = np.random.default_rng(seed)
    part = np.repeat(np.arange(parts), 400)
    residual = bias * generator.standard_normal(parts)[part] + 0.1 * generator.standard_normal(len(part))
    ones = np.ones(len(part))
    return Judged(np.exp(residual), ones, np.zeros(len(part)), ones, part)


def test_bands_hold_nine_rows_of_ten_that_they_were_not_made_of():
    """With a bias of each part the plain quantiles of some parts hold fewer of another; widened they hold enough."""
    for bias in (0.0, 0.1, 0.3):
        known = noisy(12, bias)
        found = held_out_residuals(known)
        (octave,) = found.octaves
        held = (np.abs(noisy(200, bias, seed=6).residual) <= octave.reach).mean()
        assert 0.85 <= held <= 0.96
        assert found.coverage_percent is not None
        assert 80 <= found.coverage_percent <= 98
    assert held_out_residuals(noisy(3, 0.3)).octaves[0].widened > 0


def test_one_part_tells_no_coverage():
    found = held_out_residuals(noisy(1, 0.0))
    assert found.coverage_percent is None
    assert found.octaves[0].widened == 0


def at(residual: list[float], part: list[int], doublings: list[float] | float = 0.0) -> Judged:
    """Rows of one size."""
    ones = np.ones(len(residual))
    return Judged(np.exp(residual), ones, ones, ones, np.array(part), np.broadcast_to(doublings, ones.shape))


@pytest.mark.parametrize(("further", "reach"), [(190, 0.1), (210, 0.4 * math.sqrt(0.1 / 0.163))])
def test_other_devices_count_as_much_as_the_device_itself_whatever_they_have(further: int, reach: float) -> None:
    """All own rows are 0.1 off, and so are most of ten times as many others: 19 % further off are 9.5 % of all weight,
    too little to reach; 21 % are enough, at a mean of 0.163 scaled half of the way to 0.1."""
    others = at([0.1] * (1000 - further) + [0.4] * further, [0] * 1000)
    (octave,) = held_out_residuals(at([0.1] * 100, [0] * 100), others=[others]).octaves
    assert (octave.rows, octave.reach) == (100, pytest.approx(reach, abs=1e-5))


def test_residuals_of_other_devices_are_brought_half_of_the_way_to_the_own_ones() -> None:
    """Four times as far off, so counted as twice."""
    (octave,) = held_out_residuals(at([0.1] * 60, [0] * 60), others=[at([0.4] * 60, [0] * 60)]).octaves
    assert octave.reach == pytest.approx(0.2)
    (octave,) = held_out_residuals(at([0.1] * 60, [0] * 60), others=[at([0.0] * 60, [0] * 60)]).octaves
    assert octave.reach == pytest.approx(0.1)


def test_a_part_is_left_out_of_every_device_at_once() -> None:
    """Either part is off by 0.1 or 0.4 on both devices: by the other part alone, half of the rows lie within."""
    own = at([0.1] * 60 + [0.4] * 60, [0] * 60 + [1] * 60)
    found = held_out_residuals(own, others=[own])
    assert found.coverage_percent == pytest.approx(50)
    assert found.octaves[0].widened == pytest.approx(0.3)


def test_rows_outside_are_brought_to_what_they_would_be_within() -> None:
    """Two doublings outside doubled 0.2: the band's own rule, the other way round."""
    (octave,) = held_out_residuals(at([math.log1p(0.4)] * 60, [0] * 60, 2.0)).octaves
    assert (octave.middle, octave.reach) == pytest.approx([math.log1p(0.2)] * 2, abs=1e-5)


def test_a_band_reaches_as_far_as_rows_that_were_fitted_to() -> None:
    """Held out two doublings outside, 0.2 is 0.1 within; nine of ten rows fitted to are 0.15 off."""
    unseen, seen = at([math.log1p(0.2)] * 60, [0] * 60, 2.0), at([0.15] * 54 + [0.9] * 6, [0] * 60)
    (octave,) = held_out_residuals(unseen, seen).octaves
    assert octave.reach == pytest.approx(0.15)


def steps_of(shared: float, components: int = 4) -> pl.DataFrame:
    """Residuals of components in 2,000 steps, of whose variance `shared` is common to a step."""
    generator = np.random.default_rng(7)
    common = np.sqrt(shared) * generator.standard_normal((2000, 1))
    own = np.sqrt(1 - shared) * generator.standard_normal((2000, components))
    step, component = np.divmod(np.arange(2000 * components), components)
    columns = {"step": step, "component": component.astype(str), "octave": step % 3}
    return pl.DataFrame({**columns, "residual": (0.05 * (common + own)).reshape(-1)})


def test_the_correlation_of_components_in_a_step_is_found_again():
    assert correlation(steps_of(0.4)) == pytest.approx(0.4, abs=0.03)
    assert correlation(steps_of(0.0)) == pytest.approx(0.0, abs=0.03)
    assert correlation(steps_of(1.0)) == 1.0


def test_a_family_with_one_component_in_a_step_counts_as_correlated():
    assert correlation(steps_of(0.4, components=1)) == 1.0


def test_a_model_left_out_takes_its_shapes_with_it():
    frame = pl.DataFrame(
        {
            "model": ["a", "a", "b", "b", "c"],
            "n": [1, 2, 2, 3, 4],
            "k": [1, 1, 1, 1, 1],
        }
    )
    splits = {
        model: (train["n"].to_list(), test["n"].to_list()) for model, train, test in leave_one_model_out(frame, "gemm")
    }
    assert splits == {"a": ([3, 4], [1, 2]), "b": ([1, 4], [2, 3]), "c": ([1, 2, 2, 3], [4])}


def test_a_hidden_size_left_out_takes_its_models_and_their_shapes_with_it():
    frame = pl.DataFrame({"model": ["a", "b", "c", "c"], "width": [1, 2, 2, 3]})
    norms = pl.DataFrame({"model": ["a", "b", "c"], "width": [64, 64, 128]})
    splits = {
        size: (train["width"].to_list(), test["width"].to_list())
        for size, train, test in leave_one_hidden_size_out(frame, "rope", norms)
    }
    assert splits == {"64": ([3], [1, 2]), "128": ([1], [2, 3])}


def test_folds_keep_what_belongs_together_and_hold_each_row_out_once():
    frame = pl.DataFrame({"n": [1, 1, 2, 2, 3, 4, 5], "m": range(7)})
    parts = list(folds(frame, ["n"], 3, seed=1))
    assert [name for name, _, _ in parts] == ["fold 1", "fold 2", "fold 3"]
    assert sorted(row for _, _, test in parts for row in test["m"]) == list(range(7))
    for _, train, test in parts:
        assert not set(train["n"]) & set(test["n"])
        assert len(train) + len(test) == 7
    again = list(folds(frame.reverse(), ["n"], 3, seed=1))
    assert [set(test["m"]) for _, _, test in again] == [set(test["m"]) for _, _, test in parts]


def test_long_contexts_are_held_out_of_short_ones():
    frame = pl.DataFrame({"context_tokens": [10, 20, 30]})
    ((name, train, test),) = up_to(frame, "context_tokens", 20)
    assert (name, train["context_tokens"].to_list(), test["context_tokens"].to_list()) == ("over 20", [10, 20], [30])
    assert list(up_to(frame, "context_tokens", 30)) == []


def test_a_number_of_ranks_is_held_out_where_there_are_others():
    frame = pl.DataFrame({"ranks": [2, 4, 8]})
    ((name, train, test),) = without_value(frame, "ranks", 4)
    assert (name, train["ranks"].to_list(), test["ranks"].to_list()) == ("4", [2, 8], [4])
    assert list(without_value(frame, "ranks", 16)) == []


def test_a_device_has_the_figures_of_one_system():
    assert system_of("vidur", "a100") == "a100_80g_pcie"
    assert system_of("aiconfigurator-core", "a100_sxm") == "a100_80g_sxm"
    with pytest.raises(UnknownNameError, match="target must be a100, a100_dgx, a40 or h100"):
        system_of("vidur", "v100")
    with pytest.raises(UnknownNameError, match="source must be"):
        system_of("hearsay", "a100")


@pytest.fixture(scope="module")
def observations(vidur_data: Path) -> pl.DataFrame:
    importer = VidurProfileImporter(source_revision="7d47513363ec447a741ac5e47241580b47724fbf")
    return importer.read_folder(vidur_data).observations


def test_a_shape_that_was_timed_twice_counts_once(observations: pl.DataFrame):
    (found,) = samples_of(observations.filter(target="a100"), Gemm())
    keys = list(zip(found.group.tolist(), *(found.shape[name].tolist() for name in "mnk"), strict=True))
    assert len(keys) == len(set(keys))
    gemm = observations.filter(family="gemm", target="a100")
    assert len(gemm) > len(keys) == gemm.n_unique(["component", "m", "n", "k"])


@pytest.mark.parametrize(("name", "bar"), [("rms_norm", 8), ("gated_activation", 9), ("rope", 12), ("add", 8)])
def test_a_model_never_seen_is_priced_within_its_bar(observations: pl.DataFrame, name: str, bar: float):
    """Held out: CodeLlama-34b on an A100, with every row of a width that it has; balanced error in percent."""
    family = next(one for one in ROW_WISE if one.name == name)
    rows = observations.filter(family=name, target="a100")
    splits = {model: (train, test) for model, train, test in leave_one_model_out(rows, name)}
    train, test = splits["codellama/CodeLlama-34b-Instruct-hf"]
    values = fit(family, list(samples_of(train, family))).values
    unseen = Judged.of(family, list(samples_of(test, family)), values)
    assert error_figures(unseen).mape_percent < bar
