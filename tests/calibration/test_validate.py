"""Validation by hand, on made-up times: what is held out, what is counted, what a band has to hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from blueprint_nb.calibration.bars import PLAIN_BARS
from blueprint_nb.calibration.bars_roofline import PeakRoofline
from blueprint_nb.calibration.fitting import Fitting
from blueprint_nb.calibration.observed import samples_of
from blueprint_nb.calibration.predict_calibrated import Calibrated
from blueprint_nb.calibration.splits import leave_one_model_out
from blueprint_nb.calibration.study import Study, family_fits
from blueprint_nb.calibration.validate import Validation, split_names, steps, validate
from blueprint_nb.calibration.validate_bands import banded, block_bands, coverage
from blueprint_nb.calibration.validate_blocks import BLOCK, block_rows, subtotals
from blueprint_nb.calibration.validate_figures import ALL, errors, octaves, worst
from blueprint_nb.calibration.validate_rows import held_out_rows
from blueprint_nb.calibration.validate_splits import splits_of
from blueprint_nb.calibration.vidur_sets import HELD_OUT_MODEL, vidur_studies
from blueprint_nb.cost.families.row_wise import ROW_WISE
from blueprint_nb.errors import InvalidInputError, UnknownNameError
from blueprint_nb.evidence import observation_frame
from blueprint_nb.evidence.vidur import VidurProfileImporter

ADD = next(family for family in ROW_WISE if family.name == "add")
WIDTHS = {"one": 1024, "two": 2048, "three": 4096}
BYTES_PER_SECOND = {"a100": 1.5e12, "a40": 6e11, "h100": 2.5e12}


def adds(model: str, target: str, rows: Any = tuple(2**octave for octave in range(13)), ranks: int = 1) -> pl.DataFrame:
    """Observations of adds that wait 2 µs and then run at a bandwidth."""
    counts = np.asarray(rows, dtype=np.int64)
    seconds = 2e-6 + 6.0 * counts * WIDTHS[model] / BYTES_PER_SECOND[target]
    return observation_frame(
        {"rows": counts, "seconds": seconds},
        width=WIDTHS[model],
        family="add",
        component="add",
        model=model,
        target=target,
        datatype="float16",
        source="vidur",
        source_revision="made up",
        software="vidur",
        tensor_parallel=ranks,
    )


def study_of(frame: pl.DataFrame) -> Study:
    return Study("add", (ADD,), frame, {"model": list(leave_one_model_out(frame, "add"))})


@pytest.fixture(scope="module")
def validation() -> Validation:
    frame = pl.concat([adds(model, target) for model in WIDTHS for target in BYTES_PER_SECOND])
    return validate([study_of(frame)], bars=PLAIN_BARS)


def held_out(**columns: Any) -> pl.DataFrame:
    """Rows as `Validation.rows` has them: one estimate of 10 µs each, unless `columns` say otherwise."""
    count = max(len(one) for one in columns.values() if isinstance(one, list))
    given = {
        "split": "s",
        "held_out": "one",
        "target": "a100",
        "datatype": "float16",
        "family": "add",
        "component": "add",
        "model": "one",
        "tensor_parallel": 1,
        "size": 64,
        "octave": 6,
        "measured_seconds": 1e-5,
        "calibrated": 1e-5,
        "doublings": 0.0,
        **columns,
    }
    return pl.DataFrame({name: one if isinstance(one, list) else [one] * count for name, one in given.items()})


def test_devices_and_their_generations_are_held_out_where_there_are_several():
    frame = pl.concat([adds("one", target) for target in BYTES_PER_SECOND])
    splits = splits_of(Study("add", (ADD,), frame))
    held = {
        split: {
            name: (train["target"].unique().sort().to_list(), test["target"].unique().sort().to_list())
            for name, train, test in parts
        }
        for split, parts in splits.items()
    }
    assert held == {
        "leave-one-GPU-out within a source": {
            "a100": (["a40", "h100"], ["a100"]),
            "a40": (["a100", "h100"], ["a40"]),
            "h100": (["a100", "a40"], ["h100"]),
        },
        "leave-one-generation-out": {"Ampere": (["h100"], ["a100", "a40"]), "Hopper": (["a100", "a40"], ["h100"])},
    }
    assert splits_of(Study("add", (ADD,), adds("one", "a100"))) == {}


def test_a_part_that_leaves_nothing_to_learn_from_is_no_part():
    """Both models have the same width, so that nothing is left when either is held out with it."""
    other = adds("one", "a100").with_columns(model=pl.lit("twin"))
    frame = pl.concat([adds("one", "a100"), other])
    assert splits_of(study_of(frame)) == {}


def test_a_cell_that_was_timed_twice_is_its_median_and_each_tp_is_a_cell():
    twice = adds("two", "a100", [8, 8]).with_columns(seconds=pl.Series([1e-5, 3e-5]))
    test = pl.concat([twice, adds("two", "a100", [8], ranks=2)])
    rows = held_out_rows(ADD, ("two", adds("one", "a100"), test), [PeakRoofline()])
    assert rows["tensor_parallel"].to_list() == [1, 2]
    assert rows["measured_seconds"].to_list() == pytest.approx([2e-5, 2e-6 + 6 * 8 * 2048 / 1.5e12])
    assert rows["peak roofline"].to_list() == pytest.approx([6 * 8 * 2048 / 1.935e12] * 2)
    assert rows.select("held_out", "size", "octave").unique().rows() == [("two", 8, 3)]
    assert rows["doublings"].to_list() == [1.0, 1.0]


def test_what_is_held_out_is_priced_by_what_a_study_fits_to_the_others():
    frame = pl.concat([adds(model, target) for model in WIDTHS for target in BYTES_PER_SECOND])
    study = replace(study_of(frame), fitting=Fitting(pool_strength=3e-2, row_share=0.5))
    part = study.splits["model"][0]
    rows = held_out_rows(ADD, part, [Calibrated(study.fitting)])
    assert len(rows) == 3 * 13
    fits = family_fits(replace(study, rows=part[1], splits={}), None, lambda _: None)
    for (target,), own in rows.group_by("target"):
        (sample,) = samples_of(own.join(part[2], on=["target", "rows"]), ADD)
        expected = ADD.seconds(ADD.prepare(sample.shape, sample.machine), fits[str(target)].values)
        assert own.sort("rows")["calibrated"].to_numpy() == pytest.approx(expected, rel=1e-12)


def test_errors_are_counted_row_by_row_for_each_predictor():
    """One add is 50 % too long, one of three GEMMs 20 % too short; a bar is 10 % too long everywhere."""
    rows = held_out(
        family=["add", "gemm", "gemm", "gemm"],
        component=["add", "up", "up", "down"],
        calibrated=[1.5e-5, 8e-6, 1e-5, 1e-5],
        bar=1.1e-5,
    )
    found = {
        (row["family"], row["predictor"]): row for row in errors(rows, ["calibrated", "bar"]).iter_rows(named=True)
    }
    assert found["add", "calibrated"]["mape_percent"] == pytest.approx(50)
    assert found["gemm", "calibrated"]["mape_percent"] == pytest.approx(20 / 3, abs=1e-3)
    assert found["gemm", "calibrated"]["balanced_mape_percent"] == pytest.approx((10 + 0) / 2)
    assert found[ALL, "calibrated"]["mape_percent"] == pytest.approx(70 / 4)
    assert found[ALL, "calibrated"]["balanced_mape_percent"] == pytest.approx((50 + 10 + 0) / 3)
    assert found[ALL, "calibrated"]["max_percent"] == pytest.approx(50)
    assert {row["mape_percent"] for (_, name), row in found.items() if name == "bar"} == {10.0}


def test_in_an_octave_each_component_has_the_same_say():
    rows = held_out(
        component=["add", "add", "add", "up"], family=["add"] * 3 + ["gemm"], calibrated=[1e-5] * 3 + [2e-5]
    )
    found = octaves(rows, ["calibrated"])
    assert found.select("family", "octave", "rows", "mape_percent").rows() == [
        (ALL, 6, 4, pytest.approx(50)),
        ("add", 6, 3, 0.0),
        ("gemm", 6, 1, pytest.approx(100)),
    ]


def test_the_worst_rows_come_first_and_one_within_the_timer_is_none():
    """100 % of 0.9 µs is within a microsecond."""
    rows = held_out(measured_seconds=[9e-7, 1e-5, 2e-5], calibrated=[1.8e-6, 1.5e-5, 1e-5], component=["a", "b", "c"])
    rows = pl.concat([rows, rows.with_columns(tensor_parallel=pl.lit(2, pl.Int64))])
    found = worst(rows, 2)
    assert found.select("component", "error_percent").rows() == [("b", pytest.approx(50)), ("c", pytest.approx(-50))]


def block(**columns: Any) -> pl.DataFrame:
    """Rows of all nine components of a block at one step."""
    return held_out(component=list(BLOCK), **columns)


def test_a_block_is_the_sum_of_its_components_without_the_embedding():
    """Nine of 10 µs measured; one is estimated 9 µs too long, another as much too short."""
    rows = pl.concat(
        [
            block(calibrated=[1.9e-5, 1e-6, *[1e-5] * 7]),
            held_out(component=["emb"], measured_seconds=[7e-5]),
        ]
    )
    blocks = block_rows(rows, ["calibrated"])
    assert blocks.select("measured_seconds", "calibrated").rows() == [(pytest.approx(9e-5), pytest.approx(9e-5))]
    assert subtotals(blocks, ["calibrated"]).row(0, named=True)["mape_percent"] == pytest.approx(0)
    assert len(BLOCK) == 9


def test_a_step_that_lacks_a_component_is_no_block():
    rows = pl.concat([block(size=64), block(size=65).filter(pl.col("component") != "attn_rope")])
    assert block_rows(rows, ["calibrated"])["size"].to_list() == [64]


@pytest.mark.parametrize(("name", "blocks"), [("post_attention_layernorm", 1), ("attn_rope", 1), ("mlp_up_proj", 0)])
def test_a_model_may_go_without_a_norm_or_rope_and_without_nothing_else(name: str, blocks: int):
    assert len(block_rows(block().filter(pl.col("component") != name), ["calibrated"])) == blocks


def test_a_band_comes_from_the_other_parts_alone():
    """Model one is 50 % slower than its estimates, the others 10 % slower: only one's band does not hold it."""
    rows = held_out(
        held_out=["one"] * 100 + ["two"] * 100 + ["three"] * 100,
        measured_seconds=[1.5e-5] * 100 + [1.1e-5] * 200,
    )
    found = coverage(banded(rows.with_columns(model="held_out")), block_rows(rows, ["calibrated"]).clear())
    assert found.filter(family="add")["covered_percent"].to_list() == pytest.approx([200 / 3])
    band = banded(rows).filter(held_out="one").row(0, named=True)
    assert (band["low_seconds"], band["high_seconds"]) == (
        pytest.approx(1e-5 / 1.1, rel=2e-3),
        pytest.approx(1.1e-5, rel=2e-3),
    )


def test_where_nothing_else_was_held_out_there_is_no_band():
    rows = banded(block())
    assert rows["low_seconds"].null_count() == 9
    blocks = block_rows(rows, ["calibrated"])
    assert len(block_bands(rows, blocks)) == 0
    assert coverage(rows, block_bands(rows, blocks)).columns == [
        "split",
        "target",
        "family",
        "rows",
        "covered_percent",
        "width_percent",
    ]


def test_coverage_and_width_by_hand():
    """Three of four times lie in a band of 9 to 12 µs about 10 µs."""
    rows = held_out(measured_seconds=[9e-6, 1e-5, 1.2e-5, 1.3e-5], low_seconds=9e-6, high_seconds=1.2e-5)
    (row,) = coverage(rows, rows.clear()).filter(family="add").iter_rows(named=True)
    assert (row["rows"], row["covered_percent"], row["width_percent"]) == (4, 75.0, pytest.approx(30.0))


def test_bands_of_a_block_add_up_within_a_family_as_far_as_its_errors_go_together():
    """Norms at ±3 and ±4 µs whose errors go together make ±7; an add at ±24 µs, of another family, makes ±25 of it."""
    half_widths = {"input_layernorm": 3e-6, "post_attention_layernorm": 4e-6, "add": 2.4e-5}
    widths = [half_widths.get(name, 0.0) for name in BLOCK]
    rows = block(
        family=["norm" if "norm" in name else name for name in BLOCK],
        calibrated=1e-4,
        low_seconds=[1e-4 - width for width in widths],
        high_seconds=[1e-4 + width for width in widths],
        correlation=1.0,
    )
    band = block_bands(rows, block_rows(rows, ["calibrated"])).row(0, named=True)
    assert (band["low_seconds"], band["high_seconds"]) == (pytest.approx(8.75e-4), pytest.approx(9.25e-4))
    apart = rows.with_columns(correlation=pl.lit(0.0))
    band = block_bands(apart, block_rows(apart, ["calibrated"])).row(0, named=True)
    assert band["high_seconds"] == pytest.approx(9e-4 + np.sqrt(3**2 + 4**2 + 24**2) * 1e-6)


def test_a_form_that_is_right_is_near_perfect_on_what_it_never_saw(validation: Validation):
    assert validation.splits == ["model", "leave-one-GPU-out within a source", "leave-one-generation-out"]
    assert validation.predictors == ("calibrated", "peak roofline", "constant efficiency", "step curves")
    by_model = validation.errors.filter(split="model", family=ALL).pivot(
        "predictor", index="target", values="mape_percent"
    )
    for row in by_model.iter_rows(named=True):
        assert row["calibrated"] < 3
        assert row["calibrated"] < min(row[bar.name] for bar in PLAIN_BARS)


def test_every_row_that_was_held_out_has_a_band_and_an_estimate_of_each(validation: Validation):
    assert len(validation.rows) == 3 * 3 * 3 * 13
    assert (
        validation.rows.select("low_seconds", "high_seconds", *validation.predictors).null_count().sum_horizontal()[0]
        == 0
    )


def activations(model: str, target: str) -> pl.DataFrame:
    """Gated activations of one form, but those of an A40 take half as long again."""
    factor = 1.5 if target == "a40" else 1.0
    frame = adds(model, target).with_columns(pl.col("seconds") * factor, family=pl.lit("gated_activation"))
    return frame.with_columns(component=pl.lit("act"))


def gated_study(*targets: str) -> Study:
    gated = next(family for family in ROW_WISE if family.name == "gated_activation")
    frame = pl.concat([activations(model, target) for model in WIDTHS for target in targets])
    return Study("gated_activation", (gated,), frame, {HELD_OUT_MODEL: list(leave_one_model_out(frame, gated.name))})


def test_a_layer_is_judged_where_a_model_is_held_out_and_not_where_a_device_is():
    found = validate([gated_study(*BYTES_PER_SECOND)], bars=())
    assert found.predictors == ("calibrated", "learned residual")
    asked = {split: set(of["predictor"]) for (split,), of in found.errors.group_by("split")}
    assert asked == {
        HELD_OUT_MODEL: {"calibrated", "learned residual"},
        "leave-one-GPU-out within a source": {"calibrated"},
        "leave-one-generation-out": {"calibrated"},
    }
    assert set(found.octaves.filter(pl.col("split") != HELD_OUT_MODEL)["predictor"]) == {"calibrated"}
    assert found.octaves["mape_percent"].null_count() == 0


def test_a_family_that_has_no_layer_is_as_it_was_and_alone_has_no_column_of_one():
    frame = pl.concat([adds(model, "a100") for model in WIDTHS])
    study = Study("add", (ADD,), frame, {HELD_OUT_MODEL: list(leave_one_model_out(frame, "add"))})
    rows = validate([study, gated_study("a100")], bars=()).rows.filter(family="add")
    assert rows["learned residual"].to_list() == rows["calibrated"].to_list()
    alone = validate([study], bars=())
    assert alone.predictors == ("calibrated",)
    assert "learned residual" not in alone.rows.columns


def test_a_block_has_no_subtotal_by_a_predictor_that_was_not_asked_about_all_of_it():
    rows = pl.concat(
        [block(bar=1.1e-5), block(split="t", bar=[None, *[1.1e-5] * 8])],
        how="vertical_relaxed",
    )
    found = subtotals(block_rows(rows, ["calibrated", "bar"]), ["calibrated", "bar"])
    assert found.select("split", "predictor").rows() == [("s", "calibrated"), ("s", "bar"), ("t", "calibrated")]


def test_a_validation_is_written_down_without_its_single_rows(validation: Validation):
    written = validation.to_dict()
    assert sorted(written) == ["coverage", "errors", "octaves", "predictors", "subtotals"]
    assert written["errors"][0]["predictor"] == "calibrated"
    assert written["subtotals"] == []


def test_progress_is_told_part_by_part():
    study = study_of(pl.concat([adds(model, "a100") for model in WIDTHS]))
    told: list[str] = []
    validate([study], bars=(), splits=["model"], progress=told.append)
    assert told == ["add, model: one", "add, model: three", "add, model: two"]
    assert steps([study]) == 3
    assert split_names([study]) == ("model",)


def test_one_model_of_one_device_can_not_be_validated():
    with pytest.raises(InvalidInputError) as raised:
        validate([study_of(adds("one", "a100"))])
    assert str(raised.value) == (
        "observations must hold a family's rows of two models or devices. Got none that can be held out."
    )


def test_a_split_that_no_study_has_is_named():
    with pytest.raises(UnknownNameError, match=r"^split must be model\. Got 'layer'\.$"):
        validate([study_of(pl.concat([adds(model, "a100") for model in WIDTHS]))], splits=["layer"])


def test_gemm_beats_its_plain_bars_on_models_never_seen_and_errs_less_still_with_a_layer(vidur_data: Path):
    """On each GPU, every second model held out in turn; in the mean over rows and balanced."""
    observations = VidurProfileImporter(source_revision="made for a test").read_folder(vidur_data).observations
    (gemm,) = vidur_studies(observations.filter(family="gemm"))
    study = replace(gemm, splits={HELD_OUT_MODEL: gemm.splits[HELD_OUT_MODEL][::2]})
    errors = validate([study], bars=PLAIN_BARS, splits=[HELD_OUT_MODEL]).errors.filter(family="gemm")
    for figure in ("mape_percent", "balanced_mape_percent"):
        wide = errors.pivot("predictor", index="target", values=figure)
        assert sorted(wide["target"]) == ["a100", "a40", "h100"]
        assert (wide["learned residual"] < wide["calibrated"]).all()
        for bar in PLAIN_BARS:
            assert (wide["calibrated"] < wide[bar.name]).all()
