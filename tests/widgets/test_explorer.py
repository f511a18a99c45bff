from __future__ import annotations

import asyncio
import html
import re

import altair
import ipywidgets
import numpy as np
import polars as pl
import pytest
from altair.utils import schemapi
from blueprint_nb_widgets import Explorer
from blueprint_nb_widgets.state import ExplorerState

from blueprint_nb import load_model, load_system
from blueprint_nb.errors import InvalidInputError

HOSTILE = "<img src=x onerror=alert(1)>"


def test_it_opens_on_llama_3_1_8b_and_fits(explorer):
    assert explorer.state.model.name == "llama-3.1-8b"
    assert explorer.state.system.name == "h100_80g_sxm"
    assert explorer.state.mode == "calibrated"
    assert ">Fits<" in explorer.verdict.value
    assert "15.2 of 72.0 GiB" in explorer.verdict.value
    assert "90 % between" in explorer.verdict.value
    assert "tokens/s on 1 device" in explorer.verdict.value


def test_it_is_shown_by_being_the_last_expression(explorer):
    assert isinstance(explorer, ipywidgets.DOMWidget)
    assert "application/vnd.jupyter.widget-view+json" in explorer._repr_mimebundle_()


def test_without_a_loop_a_moved_slider_has_its_result_at_once(explorer):
    explorer.panel.tensor_parallel.slider.value = 4
    assert explorer.estimate.inputs.mapping.tensor_parallel == 4
    assert "on 4 devices" in explorer.verdict.value


def test_a_moved_slider_changes_verdict_chart_and_table(explorer):
    def seen():
        return explorer.verdict.value, explorer.result.chart_box.children[0].spec, explorer.result.table.value

    before = seen()
    explorer.panel.tensor_parallel.slider.value = 2
    assert all(old != new for old, new in zip(before, seen(), strict=True))


def test_a_gesture_of_many_changes_computes_once(monkeypatch):
    computed = []
    estimate = ExplorerState.estimate

    async def drag():
        explorer = Explorer()
        monkeypatch.setattr(ExplorerState, "estimate", lambda state: computed.append(state) or estimate(state))
        for value in (2, 3, 4, 6, 8, 12, 16, 24, 32):
            explorer.panel.batch_size.slider.value = value
            await asyncio.sleep(0.01)
        assert computed == []
        assert "bp-stale" in explorer._dom_classes
        await asyncio.sleep(0.5)
        assert "bp-stale" not in explorer._dom_classes
        return explorer

    explorer = asyncio.run(drag())
    assert [state.batch_size for state in computed] == [32]
    assert explorer.estimate.inputs.request.batch_size == 32


def test_slider_and_box_of_a_number_follow_each_other(explorer):
    prompt = explorer.panel.prompt_tokens
    prompt.slider.value = 4096
    assert prompt.box.value == 4096
    prompt.box.value = 5000
    assert prompt.slider.value == 4096
    assert explorer.state.prompt_tokens == 5000


def test_illegal_tp_is_never_offered_and_the_line_below_says_why(explorer):
    tensor_parallel = explorer.panel.tensor_parallel
    assert [value for _, value in tensor_parallel.slider.options] == [1, 2, 4, 8]
    text = html.unescape(tensor_parallel.hint.value)
    assert "3, 5–7: must divide the 32 attention heads" in text
    assert "9–32: must be at most 8, the ranks that network tier 0 (NVLink 4) of h100_80g_sxm reaches" in text


def test_a_context_beyond_the_sequence_length_is_held_and_explained(explorer):
    explorer.panel.prompt_tokens.slider.value = 131_072
    assert explorer.state.prompt_tokens == 130_945
    assert explorer.panel.prompt_tokens.box.value == 130_945
    assert "Prompt held at 130,945" in explorer.panel.generated_tokens.hint.value
    assert explorer.errors.value == ""


def test_another_model_resets_what_it_can_not_have_and_says_so(explorer):
    explorer.panel.tensor_parallel.slider.value = 8
    explorer.panel.model.dropdown.value = "qwen2.5-7b"
    assert explorer.panel.tensor_parallel.slider.value == 4
    assert "set to 4, 8 is not legal here" in explorer.panel.tensor_parallel.hint.value
    assert explorer.estimate.inputs.model.name == "qwen2.5-7b"


def test_a_datasheet_system_takes_the_calibrated_mode_and_names_what_another_lacks(explorer):
    explorer.panel.system.dropdown.value = "h200_141g_sxm"
    assert explorer.panel.mode.dropdown.options == ("peak-only", "calibrated")
    assert explorer.estimate.inputs.mode == "calibrated"
    assert "has no measured efficiency (matrix.efficiency" in explorer.panel.mode.hint.value
    assert "set to" not in explorer.panel.mode.hint.value


def test_the_footer_says_of_peak_only_what_it_means(explorer):
    explorer.panel.mode.dropdown.value = "peak-only"
    assert "peak-only: everything at the peaks of the profile" in explorer.footer.value


def test_what_does_not_fit_shows_the_smallest_fix():
    explorer = Explorer(model="llama-3.1-405b")
    assert ">Does not fit<" in explorer.verdict.value
    assert "✕" in explorer.verdict.value
    assert "GiB short" in explorer.verdict.value
    assert "Smallest fix: fits with TP 4 × PP 3 (12 devices)" in explorer.verdict.value


def test_only_the_tab_in_front_is_drawn(explorer, monkeypatch):
    drawn = []
    for tab in explorer.result._tabs.values():
        draw = tab.draw
        monkeypatch.setattr(tab, "draw", lambda *given, tab=tab, draw=draw: drawn.append(tab.title) or draw(*given))
    explorer.panel.batch_size.slider.value = 8
    explorer.result.titles.value = "Memory"
    explorer.panel.batch_size.slider.value = 16
    assert drawn == ["Latency", "Memory", "Memory"]


def test_every_tab_has_its_chart_and_its_table(explorer):
    captions = {
        "Memory": "GiB on the fullest device",
        "Components": "Decode step at context 1,151, all 15 components",
        "Mapping": "21 legal mappings of up to 64 devices",
        "Latency": "the 6 costliest of 15 components",
    }
    for title, caption in captions.items():
        explorer.result.titles.value = title
        assert caption in explorer.result.table.value
        assert explorer.result.chart_box.children[0].spec
        assert explorer.errors.value == ""


def test_components_are_those_of_the_prefill_when_asked(explorer):
    explorer.result.titles.value = "Components"
    explorer.result.phases.value = "prefill"
    assert "Prefill of 1,024 tokens, all 15 components" in explorer.result.table.value
    assert explorer.result.phases.layout.visibility == "visible"


def test_the_mapping_table_marks_the_current_mapping(explorer):
    explorer.result.titles.value = "Mapping"
    explorer.panel.tensor_parallel.slider.value = 8
    marked = explorer.result.table.value.split('aria-current="true">')[1].split("</tr>")[0]
    assert marked.startswith('<td class="bp-numeric">8</td><td class="bp-numeric">1</td>')


@pytest.mark.parametrize("tab", ["Latency", "Memory", "Components", "Mapping", "Error"])
def test_one_generated_token_has_no_decode_step_and_no_error(tab):
    explorer = Explorer(generated_tokens=1, tab=tab)
    assert "no decode step" in explorer.verdict.value
    explorer.panel.batch_size.slider.value = 4
    assert explorer.errors.value == ""


def test_one_chart_instance_is_kept(explorer, monkeypatch):
    chart = explorer.result.chart_box.children[0]
    monkeypatch.setattr(altair, "JupyterChart", lambda *_, **__: pytest.fail("a second chart was made"))
    for title in ("Memory", "Components", "Mapping"):
        explorer.result.titles.value = title
    explorer.panel.model.dropdown.value = "phi-2"
    assert explorer.result.chart_box.children == (chart,)
    assert explorer.errors.value == ""


def test_the_place_of_a_chart_is_as_high_as_its_rows(explorer):
    place = explorer.result.chart_box.layout
    assert place.min_height == "405px"
    explorer.result.titles.value = "Components"
    assert place.min_height == f"{24 * 15 + 120}px"
    explorer.result.titles.value = "Memory"
    assert place.min_height is None


def test_the_column_of_times_is_headed_as_in_the_report_not_by_a_unit(explorer):
    headings = re.findall(r"<th [^>]*>(.*?)</th>", explorer.result.table.value)
    assert headings[:3] == ["component", "time", "90 % band"]


def test_a_chart_is_checked_against_its_schema_once_and_whole(explorer, monkeypatch):
    checked = []
    validate = schemapi.validate_jsonschema
    monkeypatch.setattr(
        schemapi,
        "validate_jsonschema",
        lambda spec, *rest, **named: checked.append(spec) or validate(spec, *rest, **named),
    )
    explorer.panel.batch_size.slider.value = 8
    charts = [spec for spec in checked if isinstance(spec, dict) and {"layer", "mark"} & spec.keys()]
    assert [("layer" in spec) for spec in charts] == [True]
    assert schemapi.DEBUG_MODE


def test_charts_need_no_network(explorer):
    assert "https://esm.sh" not in str(explorer.result.chart_box.children[0]._esm)[:200]
    assert altair.JupyterChart._is_offline


def test_an_error_of_the_engine_shows_below_and_the_last_good_result_stays(explorer, monkeypatch):
    good = explorer.verdict.value

    def refuse(state):
        raise InvalidInputError("batch_size", got=8, rule="must be small", next_step="Use fewer.")

    with monkeypatch.context() as patched:
        patched.setattr(ExplorerState, "estimate", refuse)
        explorer.panel.batch_size.slider.value = 8
    assert "batch_size must be small. Got 8. Use fewer." in explorer.errors.value
    assert explorer.verdict.value == good
    assert "bp-stale" in explorer._dom_classes

    explorer.panel.batch_size.slider.value = 4
    assert explorer.errors.value == ""
    assert "bp-stale" not in explorer._dom_classes


def test_an_unexpected_error_in_a_tab_shows_below_the_widget(explorer, monkeypatch):
    def fail(*_):
        raise KeyError("lost")

    monkeypatch.setattr(explorer.result._tabs["Memory"], "draw", fail)
    explorer.result.titles.value = "Memory"
    assert "KeyError" in explorer.errors.value
    assert "please report it" in explorer.errors.value


def test_after_an_error_in_one_tab_another_tab_is_good(explorer, monkeypatch):
    def fail(*_):
        raise KeyError("lost")

    monkeypatch.setattr(explorer.result._tabs["Latency"], "draw", fail)
    explorer.panel.batch_size.slider.value = 8
    assert "bp-stale" in explorer._dom_classes
    explorer.result.titles.value = "Memory"
    assert explorer.errors.value == ""
    assert "bp-stale" not in explorer._dom_classes
    assert explorer.estimate.inputs.request.batch_size == 8


def test_a_profile_that_can_not_be_read_leaves_the_controls_as_they_were(explorer, monkeypatch):
    def unreadable(name):
        raise InvalidInputError("profile", got=name, rule="can't be read")

    monkeypatch.setattr(explorer._models, "load", unreadable)
    explorer.panel.model.dropdown.value = "phi-2"
    assert "can&#x27;t be read" in explorer.errors.value
    assert explorer.panel.model.dropdown.value == "llama-3.1-8b"
    assert explorer.state.model.name == "llama-3.1-8b"


def test_a_hostile_name_is_escaped_everywhere(texts_of):
    model = load_model("llama-3.1-8b").model_copy(update={"name": HOSTILE})
    system = load_system("h200_141g_sxm").model_copy(update={"name": HOSTILE, "calibrations": ()})
    explorer = Explorer(model=model, system=system)
    explorer.pin.value = True
    explorer.panel.prompt_tokens.box.value = 10**9
    with explorer.errors.catching():
        raise InvalidInputError(HOSTILE, rule=HOSTILE)
    for title in ("Memory", "Components", "Mapping", "Error", "Latency"):
        explorer.result.titles.value = title
        texts = texts_of(explorer)
        assert any(html.escape(HOSTILE) in text for text in texts)
        assert not any("<img" in text for text in texts)


def test_a_system_of_ones_own_joins_the_list_and_stays_there():
    faster = load_system("h100_80g_nvl8").with_overrides({"memory.bandwidth_gb_per_s": 4000})
    explorer = Explorer(system=faster)
    assert explorer.panel.system.dropdown.value == faster.name
    explorer.panel.system.dropdown.value = "a100_80g"
    explorer.panel.system.dropdown.value = faster.name
    assert explorer.estimate.inputs.system == faster


def test_a_start_that_is_not_legal_is_an_error_in_the_cell():
    with pytest.raises(InvalidInputError, match="must divide the 32 attention heads"):
        Explorer(tensor_parallel=3)


def test_an_unknown_tab_is_an_error_that_names_the_known_ones():
    with pytest.raises(InvalidInputError, match="tab must be Components, Error, Latency, Mapping or Memory"):
        Explorer(tab="Speed")


@pytest.mark.parametrize("tab", [["Latency"], {}, None, np.array(["Latency", "Memory"])])
def test_a_tab_that_is_no_name_is_refused_by_name(tab):
    with pytest.raises(InvalidInputError, match=r"^tab must be "):
        Explorer(tab=tab)


@pytest.mark.parametrize("mode", [0, "", False, [], pl.DataFrame({"mode": ["peak-only"]})])
def test_a_mode_that_is_no_name_is_refused_by_name(mode):
    with pytest.raises(InvalidInputError, match=r"^mode must be "):
        Explorer(mode=mode)


def test_the_scope_of_the_model_stands_below(explorer):
    assert "whole model, embedding to LM head: no sampling, host or queueing" in explorer.footer.value
    explorer.panel.model.dropdown.value = "phi-2-dense-mha"
    assert "decoder stack only: no embedding, LM head, sampling, host or queueing" in explorer.footer.value


def test_the_digests_of_plan_and_system_stand_below(explorer):
    assert f"plan {explorer.estimate.prefill_plan.digest[:12]}" in explorer.footer.value
    assert f"system revision {explorer.estimate.inputs.system.revision[:12]}" in explorer.footer.value


def test_a_pin_stays_as_a_ghost_and_says_what_changed(explorer):
    explorer.pin.value = True
    assert explorer.pin.description == "Unpin"
    explorer.panel.tensor_parallel.slider.value = 4
    assert "pinned" in str(explorer.result.chart_box.children[0].spec)
    assert "Pinned: llama-3.1-8b on h100_80g_sxm, TP 1 × PP 1" in explorer.pin.line.value
    assert "times as fast" in explorer.pin.line.value


def test_unpinning_takes_ghost_and_line_away(explorer):
    explorer.pin.value = True
    explorer.pin.value = False
    assert explorer.pin.line.value == ""
    assert "pinned" not in str(explorer.result.chart_box.children[0].spec)


def test_charts_are_drawn_for_the_width_there_is(explorer):
    wide = explorer.result.chart_box.children[0].spec["width"]
    explorer.result.probe.width = 500
    assert explorer.result.chart_box.children[0].spec["width"] == wide - (860 - 500)


def test_a_mode_that_one_system_can_not_give_comes_back_with_the_next():
    explorer = Explorer(system="a100_80g", mode="system-evidence")
    explorer._moved("system", "h200_141g_sxm")
    assert explorer.state.mode == "calibrated"
    assert "set to calibrated, system-evidence is not possible here" in explorer.panel.mode.hint.value
    explorer._moved("system", "h100_80g_nvl8")
    assert explorer.state.mode == "system-evidence"
    explorer._moved("mode", "peak-only")
    explorer._moved("system", "a100_80g")
    assert explorer.state.mode == "peak-only"
