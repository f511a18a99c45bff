from __future__ import annotations

import json
from typing import Any

import error_cases
import pytest

from blueprint_nb.analysis import load_slice
from blueprint_nb.report.charts import error_bars, error_lines
from blueprint_nb.report.error_rows import case_errors, case_names
from blueprint_nb.validation import VidurExperimentReport, run_vidur_experiment

REPORTS = {
    "golden": error_cases.golden,
    "one_mode": error_cases.one_mode,
    "odd": error_cases.odd,
    "many": error_cases.many,
    "calibrated": error_cases.calibrated,
    "many_calibrated": error_cases.many_calibrated,
}


def spec_of(chart: Any) -> dict[str, Any]:
    return json.loads(chart.to_json())


def bars_of(report: VidurExperimentReport, case: str | None = None) -> dict[str, Any]:
    return spec_of(error_bars(case_errors(report, case or case_names(report)[-1])))


def tables(spec: dict[str, Any]) -> list[list[dict[str, Any]]]:
    return list(spec["datasets"].values())


def bars(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return next(table for table in tables(spec) if "is_cut" in table[0])


def found(value: Any, key: str) -> list[Any]:
    """Every value of `key`, however deep."""
    if isinstance(value, dict):
        return [*([value[key]] if key in value else []), *(x for item in value.values() for x in found(item, key))]
    return [x for item in value for x in found(item, key)] if isinstance(value, list) else []


def tooltip_titles(spec: dict[str, Any]) -> set[str]:
    return {tip["title"] for tips in found(spec, "tooltip") if isinstance(tips, list) for tip in tips}


def test_bars_have_a_row_for_each_component_and_the_subtotal_apart():
    order = found(bars_of(error_cases.golden()), "domain")
    names = next(one for one in order if isinstance(one, list) and "RoPE" in one)
    assert names[:4] == ["Input norm", "QKV projection", "RoPE", "KV save"]
    assert names[-2:] == [" ", "Subtotal (compared)"]


def test_both_modes_are_in_each_row_with_their_numbers():
    rows = [row for row in bars(bars_of(error_cases.golden())) if row["row"] == "MLP up"]
    assert [(row["mode"], row["error"], row["end"]) for row in rows] == [
        ("peak-only", "−3.55 %", -3.546),
        ("system-evidence", "+42.8 %", 42.8),
    ]


def test_modes_are_named_beside_the_first_bars_and_told_apart_without_colour():
    spec = bars_of(error_cases.golden())
    labels = [row for table in tables(spec) for row in table if "label" in row]
    assert [(row["row"], row["label"], row["is_right"]) for row in labels] == [
        ("Input norm", "peak-only", True),
        ("Input norm", "system-evidence", True),
    ]
    fills = [mark for mark in found(spec, "mark") if isinstance(mark, dict) and "fillOpacity" in mark]
    assert [mark["fillOpacity"] for mark in fills] == [0.18, 1]
    assert next(field for field in found(spec, "yOffset") if field)["field"] == "mode"


def test_what_is_not_covered_is_listed_with_its_kind_of_reason():
    missing = [row for table in tables(bars_of(error_cases.golden())) for row in table if "why" in row]
    assert [(row["row"], row["words"]) for row in missing] == [
        ("KV save", "not covered: no column"),
        ("Attention residual", "not covered: refused by policy"),
        ("Post attention norm", "not covered: no column"),
    ]


def test_a_bar_beyond_the_axis_is_cut_marked_and_keeps_its_number():
    rows = [row for row in bars(bars_of(error_cases.odd())) if row["row"] == "MLP up"]
    assert [(row["end"], row["is_cut"], row["error"]) for row in rows] == [(100, True, "+171 %"), (100, True, "+301 %")]
    assert "triangle-right" in found(bars_of(error_cases.odd()), "shape")


def test_a_flagged_bar_says_so():
    spec = bars_of(error_cases.odd())
    labels = [row for table in tables(spec) for row in table if "label" in row]
    assert {row["label"] for row in labels if row["row"] == "Input norm"} == {"flagged"}
    assert {row["label"] for row in labels if row["row"] == "QKV projection"} == {"peak-only", "system-evidence"}
    flagged = [row for row in bars(spec) if row["is_flagged"]]
    assert {row["row"] for row in flagged} == {"Input norm"}
    assert all(row["words"].startswith("flagged, not counted: ruled out by physics") for row in flagged)


def test_a_case_of_which_nothing_is_compared_says_so_in_the_place_of_its_bars():
    spec = bars_of(error_cases.nothing())
    assert tables(spec)[0][0]["text"].startswith("Nothing is compared: other model")


def test_the_axis_of_errors_says_unit_and_direction():
    assert "← estimate too short · error (% of measured) · estimate too long →" in found(
        bars_of(error_cases.golden()), "title"
    )


def test_few_cases_are_cells_with_their_numbers():
    spec = spec_of(error_lines(error_cases.golden()))
    (cells,) = tables(spec)
    assert {cell["case"] for cell in cells} == {"prefill 128", "decode 33", "decode 129"}
    (mlp_up,) = [c for c in cells if (c["row"], c["case"], c["mode"]) == ("MLP up", "prefill 128", "system-evidence")]
    assert (mlp_up["error"], mlp_up["depth"]) == ("+42.8 %", pytest.approx(0.428))
    assert (mlp_up["estimate"], mlp_up["reference"]) == ("72.1 µs", "50.5 µs")
    means = [cell["error"] for cell in cells if cell["row"] == "Component MAPE" and cell["mode"] == "system-evidence"]
    assert means == ["40.8 %", "60.9 %", "60.5 %"]


@pytest.mark.parametrize(("width", "text"), [(640, "not covered"), (400, "–")])
def test_cells_without_room_for_words_have_a_dash(width, text):
    (cells,) = tables(spec_of(error_lines(error_cases.golden(), width=width)))
    assert {cell["error"] for cell in cells if cell["state"] == "not-covered"} == {text}


def test_many_cases_are_lines_over_tokens_and_over_context():
    spec = spec_of(error_lines(error_cases.many()))
    assert len(spec["vconcat"]) == 2
    prefill, decode = spec["vconcat"]
    assert "prompt (tokens)" in found(prefill, "title")
    assert "visible context (tokens)" in found(decode, "title")
    assert "error (%)" in found(prefill, "title")
    lines = [row for table in tables(spec) for row in table]
    assert {row["component"] for row in lines} >= {"Input norm", "Attention core", "Subtotal (compared)"}
    assert {row["mode"] for row in lines} == {"peak-only", "system-evidence"}
    core = next(row for row in lines if row["component"] == "Attention core" and row["mode"] == "peak-only")
    assert core["context_tokens"] == [8 * step + 1 for step in range(1, 41)]
    assert len(core["end"]) == len(core["error"]) == 40


def test_a_point_names_its_line_only_where_there_are_several():
    one = spec_of(error_lines(error_cases.many()))
    steps = [(batch, context) for batch in (1, 128) for context in range(2, 6)]
    cases = [error_cases.phi_2(f"{b} at {c}", "decode", c, batch_size=b) for b, c in steps]
    two = spec_of(error_lines(run_vidur_experiment(cases, load_slice())))
    assert "line" not in tooltip_titles(one)
    assert "line" in tooltip_titles(two)
    assert two["title"]["subtitle"][-1] == "a line for each of batch 1; batch 128"
    assert {row["series"] for table in tables(two) for row in table} == {"batch 1", "batch 128"}


def test_tokens_are_logarithmic_where_they_span_much():
    scales = found(spec_of(error_lines(error_cases.many())), "scale")
    assert any(scale.get("type") == "log" and scale["base"] == 2 for scale in scales if isinstance(scale, dict))


def test_components_that_nothing_covers_have_no_panel():
    order = [sort for sort in found(spec_of(error_lines(error_cases.many())), "sort") if sort]
    panels = {row["component"] for table in tables(spec_of(error_lines(error_cases.many()))) for row in table}
    assert "KV save" not in panels
    assert all(names[-1] == "Subtotal (compared)" for names in order)


def test_lines_are_thinned_to_what_is_asked():
    rows = [row for table in tables(spec_of(error_lines(error_cases.many(), most_points=200))) for row in table]
    assert sum(len(row["end"]) for row in rows) <= 200
    assert {row["context_tokens"][0] for row in rows} == {8, 9}


def test_lines_beyond_the_axis_are_cut_and_keep_their_number():
    rows = [row for table in tables(spec_of(error_lines(error_cases.many()))) for row in table]
    assert max(max(row["end"]) for row in rows) == 100
    assert "+146 %" in {text for row in rows for text in row["error"]}
    assert "triangle-up" in found(spec_of(error_lines(error_cases.many())), "shape")


def test_there_is_no_chart_of_nothing():
    assert error_lines(error_cases.nothing()) is None


@pytest.mark.parametrize("name", REPORTS)
def test_no_chart_passes_altairs_limit_of_rows_and_text_has_the_pages_colour(name):
    report = REPORTS[name]()
    for spec in (bars_of(report), spec_of(error_lines(report))):
        assert all(len(table) <= 5_000 for table in tables(spec))
        assert spec["config"]["axis"]["labelColor"] == "currentColor"
        assert spec["config"]["background"] == "transparent"
        assert spec["usermeta"]["embedOptions"]["renderer"] == "svg"


@pytest.mark.parametrize("name", REPORTS)
def test_a_drawing_without_pointer_has_no_figures_to_show(name):
    report = REPORTS[name]()
    still = error_bars(case_errors(report, case_names(report)[-1]), hover=False), error_lines(report, hover=False)
    for chart in still:
        tooltips = [tip for tip in found(spec_of(chart), "tooltip") if isinstance(tip, list)]
        assert all("formula" not in {field["field"] for field in tip} for tip in tooltips)


def test_a_figure_answers_with_its_formula():
    formulas = [one for one in found(bars_of(error_cases.golden()), "calculate") if "reference" in one]
    expected = "'(' + datum.estimate + ' − ' + datum.reference + ') / ' + datum.reference + ' = ' + datum.error"
    assert formulas == [expected]


def test_a_whisker_spans_the_band_and_the_number_stands_beyond_it():
    spec = bars_of(error_cases.calibrated())
    rows = bars(spec)
    assert {row["mode"] for row in rows if row["high"] > row["low"]} == {"calibrated"}
    for row in rows:
        assert row["low"] <= row["end"] <= row["high"]
        assert row["number_at"] == (row["low"] if row["end"] < 0 else row["high"])
    banded = [row for row in rows if row["mode"] == "calibrated"]
    assert all(row["band"].endswith("within" if row["low"] <= 0 <= row["high"] else "outside") for row in banded)
    assert "90 % band" in tooltip_titles(spec)
    assert any("it crosses zero where the measurement lies in it" in line for line in spec["title"]["subtitle"])


def test_a_chart_without_bands_speaks_of_none():
    spec = bars_of(error_cases.golden())
    assert "90 % band" not in tooltip_titles(spec)
    assert not any("band" in line for line in spec["title"]["subtitle"])


def test_cells_count_the_measurements_within_their_bands():
    (cells,) = tables(spec_of(error_lines(error_cases.calibrated())))
    counted = {(cell["mode"], cell["case"]): cell["error"] for cell in cells if cell["row"] == "Within 90 % band"}
    assert {mode for mode, _ in counted} == {"calibrated"}
    assert all(text.endswith(" of 9") for text in counted.values())


def test_lines_have_the_band_of_the_mode_that_has_one():
    spec = spec_of(error_lines(error_cases.many_calibrated()))
    rows = [row for table in tables(spec) for row in table]
    assert {row["mode"] for row in rows if row["low"]} == {"calibrated"}
    for row in rows:
        assert len(row["low"]) == len(row["high"]) == (len(row["end"]) if row["mode"] == "calibrated" else 0)
        assert all(low <= end <= high for low, end, high in zip(row["low"], row["end"], row["high"], strict=False))
    assert "area: 90 % band of calibrated; it holds zero where the measurement lies in it" in spec["title"]["subtitle"]
