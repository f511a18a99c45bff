from __future__ import annotations

import asyncio

import pytest
import vidur_profiles as profiles
from blueprint_nb_widgets import Explorer, error_tab

from blueprint_nb.errors import IntegrityError, InvalidInputError

PHI = {"model": "phi-2-dense-mha", "system": "a100_80g", "prompt_tokens": 128}


@pytest.fixture
def explorer() -> Explorer:
    return Explorer(**PHI, tab="Error")


@pytest.fixture
def asked(monkeypatch):
    """Every estimate that is compared with measurements."""
    seen = []
    report = error_tab.error_report
    monkeypatch.setattr(error_tab, "error_report", lambda one, baseline: seen.append(one) or report(one, baseline))
    return seen


def view_of(explorer):
    return explorer.result.tab.view


def test_the_tab_compares_the_estimate_with_the_slice_that_ships(explorer):
    assert "Decode step at context 129, batch 1, TP 1" in view_of(explorer).table.value
    assert view_of(explorer).cases.options == ("prefill 128", "decode 129")
    assert view_of(explorer).chart_box.children[0].spec


def test_the_oracle_is_asked_only_while_the_tab_is_in_front(asked):
    explorer = Explorer(**PHI)
    explorer.panel.batch_size.slider.value = 2
    assert asked == []
    explorer.result.titles.value = "Error"
    explorer.panel.batch_size.slider.value = 1
    explorer.result.titles.value = "Latency"
    explorer.panel.batch_size.slider.value = 4
    assert [one.inputs.request.batch_size for one in asked] == [2, 1]


def test_the_oracle_is_asked_once_for_an_estimate(explorer, asked):
    explorer.result.titles.value = "Latency"
    explorer.result.titles.value = "Error"
    explorer.result.probe.width = 500
    explorer.pin.value = True
    view_of(explorer).cases.value = "prefill 128"
    assert asked == []


def test_a_drag_asks_the_oracle_once_and_greys_what_was_there(asked):
    async def drag():
        explorer = Explorer(**PHI, tab="Error")
        before = view_of(explorer).table.value
        for value in (2, 3, 4, 6, 8):
            explorer.panel.batch_size.slider.value = value
            await asyncio.sleep(0.01)
        assert view_of(explorer).table.value == before
        assert "bp-stale" in explorer._dom_classes
        await asyncio.sleep(0.5)
        assert "bp-stale" not in explorer._dom_classes

    asyncio.run(drag())
    assert [one.inputs.request.batch_size for one in asked] == [1, 8]


def test_it_draws_on_a_table_and_a_chart_of_its_own_and_keeps_them(explorer):
    view, chart = view_of(explorer), view_of(explorer).chart_box.children
    assert view in explorer.result._views.children
    explorer.result.titles.value = "Latency"
    shared = explorer.result.chart_box.children
    explorer.result.titles.value = "Error"
    explorer.panel.prompt_tokens.box.value = 32
    assert view_of(explorer) is view
    assert view.chart_box.children == chart
    assert explorer.result.chart_box.children == shared
    assert explorer.errors.value == ""


@pytest.mark.parametrize("title", ["Latency", "Error"])
def test_of_the_shared_chart_and_the_table_of_errors_one_is_seen(explorer, title):
    explorer.result.titles.value = title
    assert ("bp-on-error" in explorer.result._views._dom_classes) == (title == "Error")


def test_a_chosen_case_stays_while_other_things_move(explorer):
    view = view_of(explorer)
    view.cases.value = "prefill 128"
    explorer.panel.generated_tokens.box.value = 64
    assert view.cases.value == "prefill 128"
    explorer.panel.prompt_tokens.box.value = 256
    assert view.cases.value == "prefill 256"


def test_a_model_that_nothing_was_measured_of_gets_a_sentence_and_a_way_on():
    explorer = Explorer(tab="Error")
    said = view_of(explorer).table.value
    assert "No measured profile of llama-3.1-8b on h100_80g_sxm is at hand" in said
    assert "Explorer(baselines=[…]) takes profiles of your own" in said
    assert "<table" not in said
    explorer.panel.system.dropdown.value = "a100_80g"
    explorer.panel.model.dropdown.value = "phi-2-dense-mha"
    assert "<table" in view_of(explorer).table.value
    assert explorer.errors.value == ""


def test_a_profile_of_ones_own_is_taken_where_it_fits(tmp_path):
    measured = {**profiles.COMPUTE, **profiles.times(*profiles.SERIAL), **profiles.times("mlp_up_proj", ms=0.3)}
    mine = profiles.baseline(compute_csv=profiles.write(tmp_path / "mlp.csv", [measured]), hardware_name="a40")
    explorer = Explorer(model="llama-2-7b", system="a40_48g", tab="Error", baselines=[profiles.baseline(), mine])
    assert "Measured: meta-llama/Llama-2-7b-hf on a40" in view_of(explorer).provenance.value
    assert "system-evidence" not in view_of(explorer).table.value


@pytest.mark.parametrize("mode", ["peak-only", "system-evidence", "calibrated"])
def test_all_modes_are_compared_whatever_the_controls_say(mode):
    table = view_of(Explorer(**PHI, mode=mode, tab="Error")).table.value
    assert table.index(">peak-only<") < table.index(">system-evidence<") < table.index(">calibrated<")


def test_a_request_of_one_token_is_compared_in_its_prefill():
    explorer = Explorer(**PHI, generated_tokens=1, tab="Error")
    assert view_of(explorer).cases.options == ("prefill 128",)
    assert "Prefill of 128 tokens" in view_of(explorer).table.value


def test_an_error_of_the_oracle_shows_below_and_the_old_table_stays_greyed(explorer, monkeypatch):
    def damaged(*_):
        raise IntegrityError("attention.csv", got="SHA-256 0", rule="must be the file of the manifest")

    before = view_of(explorer).table.value
    with monkeypatch.context() as patched:
        patched.setattr(error_tab, "error_report", damaged)
        explorer.panel.batch_size.slider.value = 2
    assert "attention.csv must be the file of the manifest" in explorer.errors.value
    assert view_of(explorer).table.value == before
    assert "bp-stale" in explorer._dom_classes
    explorer.panel.batch_size.slider.value = 1
    assert explorer.errors.value == ""
    assert "bp-stale" not in explorer._dom_classes


def test_wrong_baselines_are_an_error_in_the_cell():
    with pytest.raises(InvalidInputError, match=r"^baselines must be a list of VidurProfileBaseline"):
        Explorer(baselines="profiling/")
