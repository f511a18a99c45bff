from __future__ import annotations

import html
import re

import altair
import ipywidgets
import pytest
import vidur_profiles as profiles
from blueprint_nb_widgets import VidurErrorTable

from blueprint_nb.analysis import load_slice
from blueprint_nb.errors import InvalidInputError
from blueprint_nb.validation import VidurExperimentReport, run_vidur_experiment

HOSTILE = "<img src=x onerror=alert(1)>"
PHI = {"model": "phi-2-dense-mha"}
GOLDEN = (
    profiles.case("decode b1 c33", context_tokens=33, **PHI),
    profiles.case("decode b1 c129", context_tokens=129, **PHI),
    profiles.case("prefill b1 128", context_tokens=128, phase="prefill", **PHI),
)
MATRICES = ("attn_pre_proj", "attn_post_proj", "mlp_up_proj", "mlp_down_proj")
MEASURED = {**profiles.COMPUTE, **profiles.times(*profiles.SERIAL), **profiles.times(*MATRICES, ms=0.1)}


@pytest.fixture(scope="module")
def report() -> VidurExperimentReport:
    return run_vidur_experiment(GOLDEN, load_slice())


@pytest.fixture
def table(report) -> VidurErrorTable:
    return VidurErrorTable(report)


@pytest.fixture
def llama_2(tmp_path):
    """A report of Llama-2-7b against a compute file that has these times, in milliseconds."""

    def make(*cases, system="a100_80g", **changes):
        baseline = profiles.baseline(
            compute_csv=profiles.write(tmp_path / "mlp.csv", [{**MEASURED, **changes}]),
            hardware_name="a40" if system == "a40_48g" else "a100",
        )
        return run_vidur_experiment(cases or [profiles.case(hardware=system)], baseline)

    return make


def rows_of(table: VidurErrorTable) -> dict[str, list[str]]:
    """The texts of each row's cells, by the row's heading."""
    body = table.table.value.split("</thead>")[1]
    rows = {}
    for row in re.findall(r"<tr>(.*?)</tr>", body):
        heading, *cells = [text_of(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        rows[heading] = cells
    return rows


def text_of(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup)).replace("\u00a0", " ")


def bars_of(table: VidurErrorTable, component: str) -> list[str]:
    row = table.table.value.split(f">{component}</th>")[1].split("</tr>")[0]
    return re.findall(r"<i [^>]*>", row)


def test_it_is_shown_by_being_the_last_expression(table):
    assert isinstance(table, ipywidgets.DOMWidget)
    assert repr(table) == "VidurErrorTable: 3 cases against microsoft/phi-2 on a100"


def test_it_opens_on_the_first_decode_step_and_offers_every_case(table):
    assert table.cases.options == ("decode b1 c33", "decode b1 c129", "prefill b1 128")
    assert table.cases.value == "decode b1 c33"
    assert "Decode step at context 33, batch 1, TP 1" in table.table.value


def test_a_row_has_both_estimates_the_measurement_and_both_errors_in_plan_order(table):
    rows = rows_of(table)
    assert list(rows)[:3] == ["Input norm", "QKV projection", "RoPE"]
    assert rows["QKV projection"] == ["19.3 µs", "26.9 µs", "30.0 µs", "−35.5 %", "−10.4 %"]
    assert rows["Input norm"][-1] == "−99.5 %"


def test_the_modes_stand_side_by_side_under_their_names(table):
    head = table.table.value.split("<thead>")[1].split("</thead>")[0]
    assert re.findall(r"bp-of-error\">([^<]*)<", head) == ["peak-only", "system-evidence"]
    assert head.count('scope="colgroup" colspan="2"') == 2


def test_a_bar_reaches_from_the_middle_as_far_as_its_error(table):
    _, evidence = bars_of(table, "QKV projection")
    assert "left:44.8%;width:5.2%" in evidence
    table.cases.value = "prefill b1 128"
    _, evidence = bars_of(table, "QKV projection")
    assert "left:50%;width:13" in evidence


def test_a_bar_beyond_100_percent_is_cut_and_its_number_is_not(llama_2):
    table = VidurErrorTable(llama_2(**{"time_stats.mlp_up_proj.median": 0.04}))
    assert rows_of(table)["MLP up"][-1] == "+159 %"
    assert all("left:50%;width:50%" in bar and "bp-cut" in bar for bar in bars_of(table, "MLP up"))


def test_what_is_not_covered_says_why_in_the_place_of_its_errors(table):
    row = rows_of(table)["KV save"]
    assert row[-1] == "not covered: no column: attention.csv has no time_stats.attn_kv_cache_save.median"
    assert len(row) == 3
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
    assert rows["Subtotal of what is compared"][-1] == "−26.4 %"
    assert rows["Component MAPE, mean of the absolute errors"] == ["72.4 %", "60.9 %"]
    assert rows["Worst component"] == ["99.9 % (Input norm)", "99.5 % (Input norm)"]


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


def test_another_case_changes_the_table_and_leaves_the_chart(table):
    chart = table.chart_box.children[0].chart
    table.cases.value = "decode b1 c129"
    assert "Decode step at context 129" in table.table.value
    assert table.chart_box.children[0].chart is chart


def test_another_report_replaces_the_first_in_place(table, llama_2, monkeypatch):
    chart = table.chart_box.children[0]
    monkeypatch.setattr(altair, "JupyterChart", lambda *_, **__: pytest.fail("a second chart was made"))
    table.report = llama_2()
    assert table.chart_box.children == (chart,)
    assert table.cases.options == ("case",)
    assert "meta-llama/Llama-2-7b-hf" in table.provenance.value


def test_a_case_that_was_taken_stays_and_else_its_phase(table, llama_2):
    def cases(*names):
        return [profiles.case(name, phase=name.split()[0], context_tokens=int(name.split()[1])) for name in names]

    table.report = llama_2(*cases("prefill 1", "decode 7", "decode 9"))
    assert table.cases.value == "decode 7"
    table.cases.value = "decode 9"
    table.report = llama_2(*cases("prefill 1", "decode 7", "decode 9"))
    assert table.cases.value == "decode 9"
    table.cases.value = "prefill 1"
    table.report = llama_2(*cases("decode 5", "prefill 64", "prefill 128"))
    assert table.cases.value == "prefill 64"
    assert "Nothing is compared" in table.table.value


def test_a_system_of_one_mode_has_one_column_of_each(llama_2):
    table = VidurErrorTable(llama_2(system="a40_48g"))
    assert 'colspan="1">estimate' in table.table.value
    assert "system-evidence" not in table.table.value
    assert len(rows_of(table)["QKV projection"]) == 3
    assert table.errors.value == ""


def test_where_nothing_is_compared_there_is_a_sentence_and_no_table(llama_2):
    report = llama_2(profiles.case(model="llama-3.1-8b", hardware="h100_80g_nvl8"))
    table = VidurErrorTable(report)
    assert "<table" not in table.table.value
    assert "No measured profile of llama-3.1-8b on h100_80g_nvl8 is at hand" in table.table.value
    assert table.chart_box.children == ()
    assert table.chart_box.layout.display == "none"
    assert table.provenance.value == ""
    table.report = llama_2()
    assert "<table" in table.table.value
    assert table.chart_box.layout.display is None


def test_the_chart_is_drawn_for_the_width_there_is(table):
    wide = table.chart_box.children[0].spec
    table.probe.width = 500
    assert table.chart_box.children[0].spec != wide
    assert table.errors.value == ""


def test_a_table_without_a_report_shows_nothing_and_fails_at_nothing():
    table = VidurErrorTable()
    table.probe.width = 500
    assert table.report is None
    assert (table.table.value, table.errors.value) == ("", "")
    assert repr(table) == "VidurErrorTable: no report"


@pytest.mark.parametrize("wrong", ["report.json", 3, {}, None])
def test_what_is_no_report_is_refused_and_the_old_one_stays(table, report, wrong):
    with pytest.raises(InvalidInputError, match=r"^report must be a VidurExperimentReport"):
        table.report = wrong
    assert table.report is report


def test_an_error_of_a_callback_shows_below_and_goes_with_the_next(table, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("blueprint_nb_widgets.error_table.case_errors", lambda *_: {}["lost"])
        table.cases.value = "decode b1 c129"
    assert "KeyError" in table.errors.value
    table.cases.value = "prefill b1 128"
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
