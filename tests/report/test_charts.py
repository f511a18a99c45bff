from __future__ import annotations

import json
import re
from typing import Any

import pytest

import blueprint_nb as bp
from blueprint_nb.analysis import mapping_table
from blueprint_nb.errors import UnknownNameError
from blueprint_nb.report.charts import (
    METRICS,
    component_chart,
    component_slider_chart,
    decode_latency_chart,
    mapping_chart,
    memory_chart,
)
from blueprint_nb.report.component_table import component_table

CASES = ("default", "calibrated", "dense_with_drop", "too_large", "one_token", "one_step", "long", "hostile")


def spec_of(chart: Any) -> dict[str, Any]:
    return json.loads(chart.to_json())


def parts(value: Any):
    """Every dictionary in a specification."""
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from parts(item)
    elif isinstance(value, list):
        for item in value:
            yield from parts(item)


def axis_titles(spec: dict[str, Any]) -> set[str]:
    axes = [part["axis"] for part in parts(spec) if isinstance(part.get("axis"), dict)]
    fields = [part for part in parts(spec) if "field" in part]
    return {title for holder in (*axes, *fields) if isinstance(title := holder.get("title"), str)}


def rows(spec: dict[str, Any]) -> list[list[dict[str, Any]]]:
    return list(spec["datasets"].values())


def labels(spec: dict[str, Any]) -> list[str]:
    return [row["label"] for table in rows(spec) for row in table if row.get("label")]


def charts_of(estimate: bp.Estimate) -> list[Any]:
    return [
        decode_latency_chart(estimate, zoom=True),
        memory_chart(estimate),
        component_chart(estimate, phase="prefill"),
        component_slider_chart(estimate),
        mapping_chart(mapping_table(estimate.inputs)),
    ]


@pytest.mark.parametrize("case", CASES)
def test_no_chart_passes_altairs_limit_of_rows(estimate_of, case):
    for chart in charts_of(estimate_of(case)):
        assert all(len(table) <= 5_000 for table in rows(spec_of(chart)))


def test_axes_say_quantity_and_unit(estimate_of):
    decode, memory, prefill, slider, mappings = map(spec_of, charts_of(estimate_of("default")))
    assert {"decode step (ms)", "visible context (tokens)"} <= axis_titles(decode)
    assert {"memory (GiB)", "visible context of decode steps (tokens)"} <= axis_titles(memory)
    assert "time in the step (ms)" in axis_titles(prefill)
    assert "time in the step (ms)" in axis_titles(slider)
    assert {"TP (ranks)", "PP (stages)"} <= axis_titles(mappings)


def test_the_title_says_which_way_is_better(estimate_of):
    title = spec_of(decode_latency_chart(estimate_of("default")))["title"]
    assert title == {
        "text": "Decode step by visible context",
        "subtitle": ["ms a step of the whole batch · lower is better"],
    }


def test_a_wide_range_of_contexts_is_logarithmic_and_a_narrow_one_is_not(estimate_of):
    def scales(case: str) -> set[str]:
        spec = spec_of(decode_latency_chart(estimate_of(case)))
        return {part["x"]["scale"].get("type", "linear") for part in parts(spec) if "scale" in part.get("x", {})}

    assert scales("long") == {"log"}
    assert scales("default") == {"linear"}


def test_a_long_line_keeps_its_ends_and_its_drops(estimate_of):
    estimate = estimate_of("long")
    spec = spec_of(decode_latency_chart(estimate))
    line = max(rows(spec), key=len)
    contexts = [row["context_tokens"] for row in line]
    assert 300 < len(contexts) <= 500
    assert contexts == sorted(set(contexts))
    assert (contexts[0], contexts[-1]) == (1025, 31023)
    assert estimate.latency_drops
    for drop in estimate.latency_drops:
        assert {drop - 1, drop} <= set(contexts)


def test_drops_are_marked_by_shape_and_words(estimate_of):
    spec = spec_of(decode_latency_chart(estimate_of("dense_with_drop")))
    assert "efficiency step" in labels(spec)
    (marked,) = [row for table in rows(spec) for row in table if "where" in row]
    assert marked["context_tokens"] == 97
    assert marked["where"] == "Attention core"
    assert marked["what"] == "3.50 ms → 3.48 ms at context 97"
    assert marked["why"] == "a step of the cost mode's efficiency curve, not a behaviour of the machine"
    assert any(part.get("shape") == "triangle-down" for part in parts(spec))


def test_nothing_is_marked_at_peak_where_no_curve_steps():
    estimate = bp.estimate("phi-2-dense-mha", "a100_80g", prompt_tokens=64, generated_tokens=100, mode="peak-only")
    spec = spec_of(decode_latency_chart(estimate))
    assert "efficiency step" not in labels(spec)
    assert not any(part.get("shape") == "triangle-down" for part in parts(spec))


def test_figures_of_the_line_are_the_estimates(estimate_of):
    estimate = estimate_of("default")
    line = max(rows(spec_of(decode_latency_chart(estimate))), key=len)
    assert [row["value"] / 1e3 for row in line] == pytest.approx(estimate.decode_seconds.tolist(), rel=1e-12)


def test_a_pinned_estimate_is_a_dashed_line_with_its_name(estimate_of):
    spec = spec_of(decode_latency_chart(estimate_of("default"), pinned=estimate_of("dense_with_drop")))
    assert "pinned 3.49 ms" in labels(spec)
    assert any(part.get("strokeDash") == [5, 4] for part in parts(spec))


def label_shifts(spec: dict[str, Any]) -> list[float]:
    """Of the labels at the ends of lines, downwards in pixels; the pinned one first."""
    return [part["dy"] for part in parts(spec) if part.get("type") == "text" and part.get("dx") == 7]


def test_labels_of_lines_that_end_together_stand_apart_in_the_order_of_the_lines(estimate_of):
    estimate, longer = estimate_of("default"), estimate_of("one_step")
    near = bp.estimate("llama-3.1-8b", "h100_80g_nvl8", tensor_parallel=2, prompt_tokens=1200)
    assert near.decode_seconds[-1] > estimate.decode_seconds[-1]
    spec = spec_of(decode_latency_chart(estimate, pinned=near, y_domain=(0, 0.01)))
    pinned, shown = label_shifts(spec)
    assert pinned < 0 < shown
    assert 0 < shown - pinned < 20
    same = label_shifts(spec_of(decode_latency_chart(estimate, pinned=estimate)))
    assert max(same) - min(same) == 20
    apart = spec_of(decode_latency_chart(estimate, pinned=longer))
    assert label_shifts(apart) == [0, 0]


def test_a_line_alone_has_its_label_at_its_end(estimate_of):
    assert label_shifts(spec_of(decode_latency_chart(estimate_of("default")))) == [0]


@pytest.mark.parametrize("width", [170, 250, 400, 640])
@pytest.mark.parametrize("case", ["default", "calibrated", "too_large"])
def test_no_line_below_a_title_is_wider_than_its_chart(estimate_of, case, width):
    decode = spec_of(decode_latency_chart(estimate_of(case), width=width))["title"]["subtitle"]
    components = spec_of(component_chart(estimate_of(case), phase="prefill", width=width))["title"]
    assert max(map(len, decode)) * 6 < width + 90
    assert max(map(len, components["subtitle"])) * 6 < width + 150
    assert components["frame"] == "bounds"


def test_a_narrow_chart_says_the_same_in_more_lines(estimate_of):
    narrow = spec_of(component_chart(estimate_of("calibrated"), phase="decode", width=170))["title"]["subtitle"]
    wide = spec_of(component_chart(estimate_of("calibrated"), phase="decode"))["title"]["subtitle"]
    assert len(narrow) > len(wide) == 1
    assert " · ".join(narrow) == wide[0]


def test_labels_of_bars_have_room_and_leave_the_share_out_where_there_is_little(estimate_of):
    def drawn(width: int) -> tuple[str, float]:
        spec = spec_of(component_chart(estimate_of("calibrated"), phase="decode", width=width))
        longest = max(max(rows(spec), key=len), key=lambda bar: bar["end"])
        (end,) = {part["x"]["scale"]["domain"][1] for part in parts(spec) if "scale" in part.get("x", {})}
        return longest["label"], width * (1 - longest["end"] / end)

    for width in (170, 250, 378, 640):
        label, room = drawn(width)
        assert (" % " in label) == (width >= 300)
        assert room + 30 >= 6 * len(label)


def test_a_given_domain_fixes_axis_and_unit(estimate_of):
    spec = spec_of(decode_latency_chart(estimate_of("default"), y_domain=(0.0, 5e-5)))
    assert "decode step (µs)" in axis_titles(spec)
    domains = [part["y"]["scale"]["domain"] for part in parts(spec) if "scale" in part.get("y", {})]
    assert all(domain == [0, pytest.approx(50)] for domain in domains)


def band_marks(spec: dict[str, Any]) -> list[str]:
    return [layer["mark"]["type"] for layer in spec["layer"] if layer["encoding"].get("y2") == {"field": "high"}]


def test_a_calibrated_line_stands_before_its_band_and_the_caption_names_it(estimate_of):
    estimate = estimate_of("calibrated")
    spec = spec_of(decode_latency_chart(estimate))
    line = max(rows(spec), key=len)
    assert band_marks({"layer": spec["layer"][:1]}) == ["area"]
    assert spec["title"]["subtitle"] == ["ms a step of the whole batch · lower is better · shaded: 90 % band"]
    assert [row["low"] / 1e3 for row in line] == pytest.approx(estimate.decode_band.low_seconds.tolist(), rel=1e-5)
    assert [row["high"] / 1e3 for row in line] == pytest.approx(estimate.decode_band.high_seconds.tolist(), rel=1e-5)
    assert all(row["low"] <= row["value"] <= row["high"] for row in line)


def test_the_axis_has_room_for_the_band_and_the_pointer_is_told_of_it(estimate_of):
    spec = spec_of(decode_latency_chart(estimate_of("calibrated")))
    line = max(rows(spec), key=len)
    domains = [part["y"]["scale"]["domain"] for part in parts(spec) if "scale" in part.get("y", {})]
    assert all(low <= line[0]["low"] and high >= line[-1]["high"] for low, high in domains)
    assert line[0]["band"].endswith(" ms")
    assert {"field": "band", "title": "90 % band", "type": "nominal"} in list(parts(spec))


def test_one_calibrated_step_has_a_bar_through_its_point():
    one_step = bp.estimate("llama-3.1-8b", "h100_80g_sxm", generated_tokens=2)
    assert band_marks(spec_of(decode_latency_chart(one_step))) == ["bar"]


def test_an_analytical_line_has_no_band_and_a_pinned_one_draws_none(estimate_of):
    alone = spec_of(decode_latency_chart(estimate_of("default")))
    beside = spec_of(decode_latency_chart(estimate_of("default"), pinned=estimate_of("calibrated")))
    assert band_marks(alone) == band_marks(beside) == []
    assert "band" not in "".join(alone["title"]["subtitle"])


def test_one_token_gives_a_message_in_the_place_of_the_chart(estimate_of):
    spec = spec_of(decode_latency_chart(estimate_of("one_token"), width=500, height=200))
    assert (spec["width"], spec["height"]) == (500, 200)
    assert rows(spec) == [[{"text": "There is no decode step: the one generated token comes from the prefill."}]]
    assert component_chart(estimate_of("one_token"), phase="decode").to_dict()["mark"]["type"] == "text"


def test_memory_shows_every_part_and_names_its_limits(estimate_of):
    spec = spec_of(memory_chart(estimate_of("too_large")))
    assert {"usable 72.0 GiB", "capacity 80.0 GiB", "✕ 684.8 GiB short"} <= set(labels(spec))
    held = {row["part"] for table in rows(spec) for row in table if "part" in row}
    assert held == {"weights", "KV cache", "workspace", "buffers"}
    assert any(part.get("color") == "#D55E00" for part in parts(spec))


def test_memory_that_fits_has_no_trouble_in_it(estimate_of):
    spec = spec_of(memory_chart(estimate_of("default")))
    assert "#D55E00" not in json.dumps(spec)
    assert labels(spec) == ["capacity 80.0 GiB"]


def test_memory_adds_up_to_the_estimates(estimate_of):
    estimate = estimate_of("default")
    spec = spec_of(memory_chart(estimate))
    prefill = [row for table in rows(spec) for row in table if row.get("phase") == "prefill" and "part" in row]
    assert sum(row["gib"] for row in prefill) * 2**30 == pytest.approx(estimate.memory.total_bytes)


def test_terms_add_up_where_nothing_overlaps_and_hide_where_it_does(estimate_of):
    def longest(case: str) -> list[dict[str, Any]]:
        return max(rows(spec_of(component_chart(estimate_of(case), phase="prefill"))), key=len)

    for bar in longest("default"):
        assert bar["end"] == pytest.approx(max(bar["compute_to"], bar["memory_to"], bar["network_to"]), rel=1e-5)
        assert bar["memory_from"] == bar["compute_to"]
    for bar in longest("too_large"):
        assert bar["end"] == pytest.approx(max(bar["compute_to"], bar["memory_to"]), rel=1e-5)
        assert bar["compute_from"] == bar["memory_from"] == 0
        assert {bar["compute_size"], bar["memory_size"]} == {5, 14}


def test_a_calibrated_bar_is_its_floor_and_then_its_longest_term_to_its_end(estimate_of):
    spec = spec_of(component_chart(estimate_of("calibrated"), phase="decode"))
    bars = max(rows(spec), key=len)
    terms = ("compute", "memory", "network")
    for bar in bars:
        thick = [term for term in terms if bar[f"{term}_size"] == 14]
        assert len(thick) == 1
        assert bar["floor_from"] == 0
        assert bar[f"{thick[0]}_from"] == bar["floor_to"]
        assert bar[f"{thick[0]}_to"] == bar["end"]
        assert all(bar["floor_to"] <= bar[f"{term}_to"] <= bar["end"] for term in terms)
    assert "first the floor (launches and waits)" in spec["title"]["subtitle"][0]
    assert any(part.get("range") == ["#999999", "#0072B2", "#E69F00", "#009E73"] for part in parts(spec))


def test_a_calibrated_bar_tells_the_pointer_its_band_its_source_and_how_it_comes_about(estimate_of):
    spec = spec_of(component_chart(estimate_of("calibrated"), phase="decode"))
    bar = next(bar for bar in max(rows(spec), key=len) if bar["component"] == "MLP down")
    assert re.fullmatch(r"\S+–\S+ µs", bar["band"])
    assert " SMs: " in bar["how"]
    assert "; floor " in bar["how"]
    titles = {part["title"] for part in parts(spec) if part.get("field") in ("band", "how", "source")}
    assert titles == {"90 % band", "each of them", "source"}


def test_analytical_bars_know_no_floor(estimate_of):
    spec = spec_of(component_chart(estimate_of("default"), phase="decode"))
    assert any(part.get("range") == ["#0072B2", "#E69F00", "#009E73"] for part in parts(spec))
    assert not any(part.get("field") in ("band", "how", "source", "floor_to") for part in parts(spec))


def test_components_are_in_the_order_of_the_plan(estimate_of):
    estimate = estimate_of("default")
    bars = max(rows(spec_of(component_chart(estimate, phase="decode"))), key=len)
    assert [bar["component"] for bar in bars] == [row.component for row in component_table(estimate, "decode")]


def test_a_tooltip_has_the_formula_with_its_numbers(estimate_of):
    bars = max(rows(spec_of(component_chart(estimate_of("default"), phase="decode"))), key=len)
    mlp = next(bar for bar in bars if bar["component"] == "MLP down")
    assert mlp["operations_formula"] == (
        "2·tokens·inner·hidden + mlp_bias·tokens·hidden = 2·1·7,168·4,096 = 58.7 MFLOP"
    )
    assert mlp["write_formula"] == "tokens·hidden·2 B = 1·4,096·2 B = 8.19 kB"
    assert mlp["message_formula"] == "none"


def test_a_formula_of_flash_attention_takes_off_what_the_mask_hides(estimate_of):
    bars = max(rows(spec_of(component_chart(estimate_of("default"), phase="prefill"))), key=len)
    core = next(bar for bar in bars if bar["component"] == "Attention core")
    assert " − " in core["operations_formula"]
    assert core["operations_formula"].endswith(" = 4.34 GFLOP")


def test_the_slider_offers_both_ends_and_opens_on_the_last_step(estimate_of):
    spec = spec_of(component_slider_chart(estimate_of("default")))
    (slider,) = [param for param in spec["params"] if param["name"] == "context_step"]
    assert slider["value"] == slider["bind"]["max"] == 9
    assert "context 1,025" in spec["title"]["text"]["expr"]
    assert "context 1,151" in spec["title"]["text"]["expr"]


@pytest.mark.parametrize("metric", METRICS)
def test_cells_that_do_not_fit_say_so_in_words(estimate_of, metric):
    table = mapping_table(estimate_of("too_large").inputs)
    cells = max(rows(spec_of(mapping_chart(table, metric, chosen=(4, 3)))), key=len)
    assert {cell["fits"] for cell in cells} == {True, False}
    assert all((cell["text"] == "✕ does not fit") != cell["fits"] for cell in cells)
    assert [(c["tensor_parallel"], c["pipeline_parallel"]) for c in cells if c["chosen"]] == [(4, 3)]


def test_an_unknown_metric_names_the_nearest(estimate_of):
    with pytest.raises(UnknownNameError, match=r"Did you mean tokens_per_second"):
        mapping_chart(mapping_table(estimate_of("one_step").inputs), "token_per_second")


def test_text_takes_the_pages_colour(estimate_of):
    config = spec_of(decode_latency_chart(estimate_of("default")))["config"]
    colours = {config["axis"]["labelColor"], config["title"]["color"], config["legend"]["labelColor"]}
    assert colours == {"currentColor"}
    assert config["background"] == "transparent"


def test_charts_are_drawn_as_svg_for_readers_of_labels(estimate_of):
    for chart in charts_of(estimate_of("default")):
        assert spec_of(chart)["usermeta"]["embedOptions"]["renderer"] == "svg"


def test_a_short_axis_has_a_tick_for_each_context():
    estimate = bp.estimate("llama-3.1-8b", "h100_80g_nvl8", prompt_tokens=8, generated_tokens=4)
    spec = spec_of(decode_latency_chart(estimate))
    ticks = [part["x"]["axis"]["values"] for part in parts(spec) if "axis" in part.get("x", {})]
    assert ticks
    assert all(values == [9, 10, 11] for values in ticks)


def test_a_line_of_steps_that_take_no_time_has_an_axis(estimate_of):
    spec = spec_of(decode_latency_chart(estimate_of("no_time")))
    domains = [part["y"]["scale"]["domain"] for part in parts(spec) if "scale" in part.get("y", {})]
    assert domains
    assert all(domain == [0, 1] for domain in domains)
    assert {row["rate"] for table in rows(spec) for row in table if "rate" in row} == {"–"}


def test_what_was_asserted_is_marked_as_such_where_time_falls(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(
        "family,batch,query_tokens,context_tokens,heads,kv_heads,head_size,seconds\n"
        "attention_decode,1,1,90,32,32,80,1e-3\n"
    )
    estimate = bp.estimate("phi-2", "a100_80g_pcie", prompt_tokens=64, generated_tokens=100, asserted=path)
    spec = spec_of(decode_latency_chart(estimate))
    (marked,) = [row for table in rows(spec) for row in table if "where" in row]
    assert (marked["label"], marked["where"]) == ("asserted time", "Attention core")
    assert marked["why"] == "an asserted time, which need not lie on the line of its neighbours"
