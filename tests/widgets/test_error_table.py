"""What the table of errors shows of a case."""

from __future__ import annotations

import html
import re

import ipywidgets
import vidur_profiles as profiles
from blueprint_nb_widgets import VidurErrorTable
from error_views import MEASURED, bars_of, rows_of, text_of

from blueprint_nb.validation import run_vidur_experiment

HOSTILE = "<img src=x onerror=alert(1)>"


def test_it_is_shown_by_being_the_last_expression(table):
    assert isinstance(table, ipywidgets.DOMWidget)
    assert repr(table) == "VidurErrorTable: 3 cases against microsoft/phi-2 on a100"


def test_it_opens_on_the_first_decode_step_and_offers_every_case(table):
    assert table.cases.options == ("decode b1 c33", "decode b1 c129", "prefill b1 128")
    assert table.cases.value == "decode b1 c33"
    assert "Decode step at context 33, batch 1, TP 1" in table.table.value


def test_a_row_has_all_estimates_the_measurement_all_errors_and_the_band_in_plan_order(table):
    rows = rows_of(table)
    assert list(rows)[:3] == ["Input norm", "QKV projection", "RoPE"]
    qkv = rows["QKV projection"]
    assert len(qkv) == 3 + 1 + 3 + 1
    assert (qkv[:2], qkv[3], qkv[4:6]) == (["19.3 µs", "26.9 µs"], "30.0 µs", ["−35.5 %", "−10.4 %"])
    assert rows["Input norm"][5] == "−99.5 %"


def test_the_modes_stand_side_by_side_under_their_names(table):
    head = table.table.value.split("<thead>")[1].split("</thead>")[0]
    assert re.findall(r"bp-of-error\">([^<]*)<", head) == ["peak-only", "system-evidence", "calibrated"]
    assert head.count('scope="colgroup" colspan="3"') == 2


def test_a_bar_reaches_from_the_middle_as_far_as_its_error(table):
    _, evidence, _ = bars_of(table, "QKV projection")
    assert "left:44.8%;width:5.2%" in evidence
    table.cases.value = "prefill b1 128"
    _, evidence, _ = bars_of(table, "QKV projection")
    assert "left:50%;width:13" in evidence


def test_a_bar_beyond_100_percent_is_cut_and_its_number_is_not(llama_2):
    table = VidurErrorTable(llama_2(**{"time_stats.mlp_up_proj.median": 0.04}))
    assert rows_of(table)["MLP up"][5] == "+159 %"
    assert all("left:50%;width:50%" in bar and "bp-cut" in bar for bar in bars_of(table, "MLP up")[:2])


def test_what_is_not_covered_says_why_in_the_place_of_its_errors(table):
    row = rows_of(table)["KV save"]
    assert row[-1] == "not covered: no column: attention.csv has no time_stats.attn_kv_cache_save.median"
    assert len(row) == 4
    assert bars_of(table, "KV save") == []
    assert "refused by policy" in rows_of(table)["Attention residual"][-1]


def test_what_to_know_of_a_measurement_stands_below_it(table):
    below = text_of(table.table.value.split(">Attention core</th>")[1].split("</tbody>")[0])
    assert "attention.csv has no attn_kv_cache_save: the append may be timed within" in below


def test_a_flagged_measurement_is_said_not_to_count(llama_2):
    table = VidurErrorTable(llama_2(**{"time_stats.add.median": 9}))
    flagged = table.table.value.split('<tbody class="bp-flagged">')[1].split("</tbody>")[0]
    assert ">MLP residual</th>" in flagged
    assert "flagged, not counted: ruled out by physics" in text_of(flagged)


def test_the_subtotal_stands_apart_from_the_mean(table):
    assert table.table.value.index('class="bp-subtotal"') < table.table.value.index('class="bp-summary"')
    rows = rows_of(table)
    assert rows["Subtotal (compared)"][5] == "−26.4 %"
    assert rows["Component MAPE, mean of the absolute errors"][:2] == ["72.4 %", "60.9 %"]
    assert rows["Worst component"][:2] == ["99.9 % (Input norm)", "99.5 % (Input norm)"]


def test_the_band_of_a_calibrated_estimate_stands_last_and_says_whether_the_measurement_lies_in_it(table):
    rows = rows_of(table)
    held = [cells[-1] for cells in rows.values() if len(cells) == 8]
    assert len(held) == 10
    assert all(text.endswith(("within", "outside")) for text in held)
    counted = sum(text.endswith("within") for text in held[:-1])
    share = f"{counted} of 9, {round(100 * counted / 9)} %"
    assert rows["Measured within the 90 % band"] == ["–", "–", share, ""]
    assert table.table.value.count('class="bp-whisker"') == 10
    assert "line: 90 % band of calibrated" in text_of(table.table.value)


def test_a_sentence_says_what_a_subtotal_hides(table):
    said = text_of(table.table.value)
    assert "system-evidence: subtotal −26 % hides components between −99 % and −6 %" in said
    table.cases.value = "prefill b1 128"
    assert "which partly cancel" in text_of(table.table.value)


def test_coverage_and_exclusions_are_words(table):
    said = text_of(table.table.value)
    assert "Compared: 9 of 12 components, 75 %." in said
    assert "Not compared: KV save, Post attention norm (no column); Attention residual (refused by policy)." in said


def test_where_the_measurements_come_from_and_the_means_of_all_cases_stand_below(table):
    said = text_of(table.provenance.value)
    assert "Measured: microsoft/phi-2 on a100 (Vidur)" in said
    assert "system-evidence: subtotal MAPE 23.6 %, component MAPE 54.1 %, worst component 99.5 %, over 3 cases" in said
    assert "fit_against_case_outputs are false" in said


def test_a_system_without_curves_has_two_columns_of_each(llama_2):
    table = VidurErrorTable(llama_2(system="a40_48g"))
    assert 'colspan="2">estimate' in table.table.value
    assert "system-evidence" not in table.table.value
    assert len(rows_of(table)["QKV projection"]) == 2 + 1 + 2 + 1
    assert table.errors.value == ""


def test_hostile_names_are_escaped_everywhere(texts_of, tmp_path):
    model = profiles.case().model.model_copy(update={"name": HOSTILE})
    baseline = profiles.baseline(
        compute_csv=profiles.write(tmp_path / "<b>mlp.csv", [MEASURED]), model_name=HOSTILE, source_revision=HOSTILE
    )
    case = profiles.case(HOSTILE).model_copy(update={"model": model})
    table = VidurErrorTable(run_vidur_experiment([case], baseline))
    texts = texts_of(table)
    assert "MLP up" in rows_of(table)
    assert any(html.escape(HOSTILE) in text for text in texts)
    assert not any("<img" in text or "<b>" in text for text in texts)
