"""What the table of errors does when a case, a report or its width changes."""

from __future__ import annotations

import altair
import pytest
import vidur_profiles as profiles
from blueprint_nb_widgets import VidurErrorTable

from blueprint_nb.errors import InvalidInputError


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
