"""Charts of a validation: units on the axes, families in words, what is off the axis still on the chart."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
import vl_convert as vlc

from blueprint_nb.calibration.vidur_sets import HELD_OUT_MODEL
from blueprint_nb.report.validation_bands import band_chart
from blueprint_nb.report.validation_octaves import octave_lines
from blueprint_nb.report.validation_quantiles import quantile_bands
from blueprint_nb.report.validation_recorded import recorded_chart
from blueprint_nb.report.validation_scatter import scatter
from blueprint_nb.report.validation_style import family_name

PREDICTORS = ("calibrated", "peak roofline")


def drawn(chart: Any) -> list[dict[str, Any]]:
    """The rows that a chart of one table draws."""
    (rows,) = chart.to_dict()["datasets"].values()
    return list(rows)


def rows_of(count: int) -> pl.DataFrame:
    """GEMMs and norms, each 10 % too long."""
    return pl.DataFrame(
        {
            "family": ["gemm", "rms_norm"] * count,
            "component": ["mlp_up_proj", "input_layernorm"] * count,
            "model": "one",
            "size": 64,
            "measured_seconds": [1e-5 * (1 + index) for index in range(2 * count)],
            "calibrated": [1.1e-5 * (1 + index) for index in range(2 * count)],
        }
    )


def octaves() -> pl.DataFrame:
    """Of both predictors over four octaves; the first is within half a percent."""
    return pl.DataFrame(
        [
            {"family": family, "octave": octave, "predictor": name, "rows": 10, "mape_percent": percent}
            for family in ("all", "gemm")
            for octave in range(4)
            for name, percent in zip(PREDICTORS, (0.5, 250.0), strict=True)
        ]
    )


def coverage() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "family": ["gemm", "block subtotal"],
            "rows": [100, 9],
            "covered_percent": [88.0, 93.0],
            "width_percent": [30.0, 12.0],
        }
    )


def quantiles() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "family": "rope",
            "octave": [0, 1, 2],
            "rows": 20,
            "low_percent": [2.0, 80.0, 90.0],
            "middle_percent": 100.0,
            "high_percent": [900.0, 120.0, 110.0],
        }
    )


def recorded() -> pl.DataFrame:
    """In sample 3 %, 9 % on a hidden size and 5 % on a model left out."""
    splits = {"in sample": 3.0, "leave-one-hidden-size-out": 9.0, HELD_OUT_MODEL: 5.0}
    return pl.DataFrame(
        [
            {"system": "a100", "family": "gemm", "split": name, "rows": 10, "mape_percent": at}
            for name, at in splits.items()
        ]
    )


CHARTS = {
    "scatter": scatter(rows_of(5)),
    "octaves": octave_lines(octaves(), PREDICTORS),
    "bands": band_chart(coverage()),
    "quantiles": quantile_bands(quantiles()),
    "recorded": recorded_chart(recorded()),
}


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_a_chart_is_drawn_with_a_title_and_in_the_colour_of_the_page(chart: Any):
    svg = vlc.vegalite_to_svg(chart.to_dict())
    assert "currentColor" in svg
    assert chart.to_dict()["title"]["text"]


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("scatter", ["measured (µs)", "estimate (µs)"]),
        ("octaves", ["tokens", "MAPE (%)"]),
        ("bands", ["times held (%)", "width of the band (% of the estimate)"]),
        ("quantiles", ["tokens", "measured / estimate (%)"]),
        ("recorded", ["MAPE (%)"]),
    ],
)
def test_axes_say_their_units(name: str, titles: list[str]):
    written = json.dumps(CHARTS[name].to_dict(), ensure_ascii=False)
    assert [title for title in titles if f'"title": "{title}"' not in written] == []


@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("gemm", "GEMM"),
        ("gated_activation", "gated activation"),
        ("all", "all components"),
        ("all_reduce@NVLink 3", "all reduce, NVLink 3"),
    ],
)
def test_a_family_is_said_in_words(family: str, name: str):
    assert family_name(family) == name


def test_many_points_are_thinned_the_same_way_each_time_and_keep_their_families():
    first, second = (drawn(scatter(rows_of(500), most_points=100)) for _ in range(2))
    assert first == second
    points = [row for row in first if "estimated" in row]
    assert len(points) == 100
    assert {row["family"] for row in points} == {"GEMM", "RMSNorm"}
    assert {row["error"] for row in points} == {10.0}


def test_an_error_below_the_axis_stands_at_its_foot_and_says_what_it_is():
    rows = drawn(CHARTS["octaves"])
    assert {(row["predictor"], row["error"], row["mape"]) for row in rows} == {
        ("calibrated", 0.5, 1.0),
        ("peak roofline", 250.0, 250.0),
    }
    assert [row["span"] for row in rows if row["family"] == "GEMM"][::2] == ["1–1", "2–3", "4–7", "8–15"]


def test_a_band_that_is_cut_off_ends_there_and_the_title_says_so():
    first = drawn(CHARTS["quantiles"])[0]
    assert (first["low"], first["high"]) == (20.0, 500.0)
    assert CHARTS["quantiles"].to_dict()["title"]["subtitle"] == [
        "shaded: 90 % of those held out · line: their median · dashed: the estimate",
        "bands end at 20 and 500 %: what is beyond is drawn there",
    ]


def test_the_axis_reaches_beyond_a_whole_band_and_has_only_ticks_within():
    whole = quantile_bands(quantiles().filter(pl.col("octave") > 0)).to_dict()
    assert len(whole["title"]["subtitle"]) == 1
    area, _, line = whole["spec"]["layer"]
    for layer in (area, line):
        assert layer["encoding"]["y"]["scale"]["domain"] == pytest.approx([80 / 1.25, 120 * 1.25])
        assert layer["encoding"]["y"]["axis"]["values"] == [75, 100, 150]


def test_bands_and_medians_have_the_colour_of_the_page():
    area, _, line = CHARTS["quantiles"].to_dict()["spec"]["layer"]
    assert {area["mark"]["color"], line["mark"]["color"]} == {"currentColor"}


def test_of_what_was_held_out_the_model_is_drawn():
    assert [(row["kind"], row["mape"]) for row in drawn(CHARTS["recorded"])] == [("in sample", 3.0), ("held out", 5.0)]
