"""The explorer in the mode `calibrated`: which parameters price what, and what may be compared with what.

Figures of the calibrations that ship may change with the next fit, so these tests hold relations, never figures.
"""

from __future__ import annotations

import html
import re

import pytest
from blueprint_nb_widgets import Explorer

from blueprint_nb import estimate, load_system
from blueprint_nb.analysis.providers import calibrations_of
from blueprint_nb.errors import InvalidInputError, UnknownNameError

H100 = load_system("h100_80g_sxm")
OWN = calibrations_of(H100)[0]
PERCENT_FASTER = H100.with_overrides({"memory.bandwidth_gb_per_s": 1.01 * H100.memory.bandwidth_gb_per_s})


@pytest.fixture
def calibrated() -> Explorer:
    return Explorer(system="h100_80g_sxm")


@pytest.fixture
def analytical() -> Explorer:
    return Explorer(system="h100_80g_nvl8")


def last_step_seconds(one) -> float:
    return float(one.decode_seconds[-1])


def test_a_measured_datasheet_opens_calibrated_by_its_own_parameters(calibrated):
    assert (calibrated.state.mode, calibrated.state.calibration) == ("calibrated", OWN)
    assert calibrated.estimate.inputs.calibration == OWN
    assert calibrated.panel.calibration.dropdown.value == OWN
    assert calibrated.panel.calibration.layout.visibility == "visible"


def test_calibrations_are_offered_in_the_mode_calibrated_alone(explorer):
    assert explorer.panel.calibration.layout.visibility == "visible"
    explorer.panel.mode.dropdown.value = "peak-only"
    assert explorer.panel.calibration.layout.visibility == "hidden"
    explorer.panel.mode.dropdown.value = "calibrated"
    assert explorer.panel.calibration.layout.visibility == "visible"
    assert explorer.panel.calibration.dropdown.options == calibrations_of(explorer.state.system)


def test_another_calibration_prices_anew(calibrated):
    calibrated.panel.calibration.dropdown.value = "pooled"
    assert calibrated.estimate.inputs.calibration == "pooled"
    assert calibrated.errors.value == ""


def test_a_calibration_that_was_chosen_comes_back_with_the_mode(calibrated):
    calibrated.panel.calibration.dropdown.value = "pooled"
    calibrated.panel.mode.dropdown.value = "peak-only"
    assert calibrated.state.calibration is None
    calibrated.panel.mode.dropdown.value = "calibrated"
    assert calibrated.state.calibration == "pooled"


def test_a_calibration_may_be_the_start():
    assert Explorer(system="h100_80g_sxm", calibration="pooled").estimate.inputs.calibration == "pooled"


def test_a_calibration_that_is_not_there_is_an_error_in_the_cell():
    with pytest.raises(UnknownNameError, match=r"^calibration must be .*pooled.*\. Got 'nobody'"):
        Explorer(system="h100_80g_sxm", calibration="nobody")


def test_a_calibration_in_another_mode_is_an_error_in_the_cell():
    with pytest.raises(InvalidInputError, match=r"^calibration belongs to mode='calibrated', not to 'peak-only'"):
        Explorer(system="h100_80g_sxm", mode="peak-only", calibration="pooled")


def test_a_what_if_takes_the_pooled_calibration_for_all_to_see_and_gives_it_back():
    explorer = Explorer(system=PERCENT_FASTER)
    calibration = explorer.panel.calibration
    assert calibration.dropdown.options == ("pooled",)
    assert "What-if: priced by the pooled calibration" in calibration.hint.value
    explorer.panel.system.dropdown.value = "h100_80g_sxm"
    assert calibration.dropdown.value == OWN
    assert "What-if" not in calibration.hint.value
    explorer.panel.system.dropdown.value = PERCENT_FASTER.name
    assert calibration.dropdown.value == "pooled"


def test_a_what_if_that_no_kernel_feels_is_compared_as_the_measured_system_that_it_is():
    larger = H100.with_overrides({"memory.capacity_gib": 160})
    explorer = Explorer(system=larger)
    assert explorer.panel.calibration.dropdown.options == calibrations_of(H100)
    assert "What-if" not in explorer.panel.calibration.hint.value
    explorer.pin.value = True
    explorer.panel.system.dropdown.value = "h100_80g_sxm"
    pinned = explorer.pin.beside(explorer.estimate)
    assert (pinned.inputs.system, pinned.inputs.calibration) == (larger, OWN)
    assert last_step_seconds(pinned) == last_step_seconds(explorer.estimate)
    explorer.panel.system.dropdown.value = "mi300x_192g"
    assert explorer.pin.beside(explorer.estimate).inputs.calibration == "pooled"
    explorer.panel.system.dropdown.value = "a100_80g_sxm"
    assert explorer.pin.beside(explorer.estimate).inputs.calibration == OWN


def what_if_beside_a_pin() -> Explorer:
    explorer = Explorer(system=PERCENT_FASTER)
    explorer.panel.system.dropdown.value = "h100_80g_sxm"
    explorer.pin.value = True
    explorer.panel.system.dropdown.value = PERCENT_FASTER.name
    return explorer


def test_what_is_pinned_is_priced_as_the_what_if_beside_it_is():
    explorer = what_if_beside_a_pin()
    pinned = explorer.pin.beside(explorer.estimate)
    by_pooled = estimate(
        "llama-3.1-8b", H100, prompt_tokens=1024, generated_tokens=128, mode="calibrated", calibration="pooled"
    )
    assert pinned.inputs == by_pooled.inputs
    assert last_step_seconds(pinned) == last_step_seconds(by_pooled)
    assert f"calibrated by pooled, as this is, not by {OWN}: last decode step" in explorer.pin.line.value


def test_one_percent_of_bandwidth_never_shows_more_than_one_percent_of_time():
    explorer = what_if_beside_a_pin()
    before, after = last_step_seconds(explorer.pin.beside(explorer.estimate)), last_step_seconds(explorer.estimate)
    assert before / 1.0101 <= after <= before
    assert " less" in explorer.pin.line.value or "the same" in explorer.pin.line.value


def test_a_pin_is_priced_anew_once_however_long_a_what_if_is_dragged():
    explorer = what_if_beside_a_pin()
    first = explorer.pin.beside(explorer.estimate)
    explorer.panel.batch_size.slider.value = 8
    assert explorer.pin.beside(explorer.estimate) is first


def test_back_on_the_system_that_was_pinned_the_pin_is_as_it_was():
    explorer = what_if_beside_a_pin()
    explorer.panel.system.dropdown.value = "h100_80g_sxm"
    assert explorer.pin.beside(explorer.estimate).inputs.calibration == OWN
    assert "the same" in explorer.pin.line.value


def test_a_pinned_what_if_is_not_compared_with_what_other_parameters_price():
    explorer = Explorer(system=PERCENT_FASTER)
    explorer.pin.value = True
    explorer.panel.system.dropdown.value = "h100_80g_sxm"
    assert explorer.pin.beside(explorer.estimate) is None
    assert f"Not compared, since this is calibrated by {OWN}" in explorer.pin.line.value
    explorer.panel.calibration.dropdown.value = "pooled"
    assert explorer.pin.beside(explorer.estimate) is not None
    assert "Not compared" not in explorer.pin.line.value


def test_two_calibrations_of_one_system_are_compared_as_they_are(calibrated):
    calibrated.pin.value = True
    calibrated.panel.calibration.dropdown.value = "pooled"
    assert calibrated.pin.beside(calibrated.estimate).inputs.calibration == OWN
    assert f"calibrated by {OWN}: last decode step" in calibrated.pin.line.value


def test_measured_systems_are_compared_each_by_its_own(calibrated):
    calibrated.pin.value = True
    calibrated.panel.system.dropdown.value = "b200"
    assert calibrated.pin.beside(calibrated.estimate).inputs.calibration == OWN


def test_beside_a_device_that_nobody_measured_the_pooled_one_prices_both(calibrated):
    calibrated.pin.value = True
    calibrated.panel.system.dropdown.value = "mi300x_192g"
    assert calibrated.pin.beside(calibrated.estimate).inputs.calibration == "pooled"


def head_and_rows(table: str) -> tuple[str, list[str]]:
    head, body = table.split("</thead>")
    return head, body.split("<tr")[1:]


def test_each_component_has_its_band_its_source_and_its_explanation_under_the_pointer(calibrated):
    head, rows = head_and_rows(calibrated.result.table.value)
    assert ">90 % band<" in head
    assert ">source<" in head
    assert len(rows) == 6
    for row in rows:
        assert re.search(r'bp-of-band">[\d.,]+–[\d.,]+ \S+</td>', row)
        assert re.search(r'bp-of-source">\w', row)
        assert ' title="' in row


def test_a_mode_without_bands_has_no_column_for_them(analytical):
    head, rows = head_and_rows(analytical.result.table.value)
    assert "band" not in head
    assert "source" not in head
    assert not any(" title=" in row for row in rows)


def test_the_verdict_and_the_footer_say_whose_figures_these_are_and_what_a_band_is(calibrated):
    assert calibrated.estimate.verdict.basis
    assert calibrated.estimate.verdict.basis in html.unescape(calibrated.verdict.value)
    assert "90 % between" in calibrated.verdict.value
    assert "bands by the errors on kernels kept out of the fit" in calibrated.footer.value


def test_the_line_of_decode_steps_has_its_band_behind_it(calibrated, analytical):
    def shown(one):
        return "area" in str(one.result.chart_box.children[0].spec)

    assert shown(calibrated)
    assert not shown(analytical)


def test_the_axis_has_room_for_the_band(calibrated):
    highest = float(calibrated.estimate.decode_band.high_seconds.max())
    scales = re.findall(r"'domain': \[0\.0, ([\d.]+)\]", str(calibrated.result.chart_box.children[0].spec))
    assert max(float(top) for top in scales) >= 1e3 * highest


@pytest.mark.parametrize("tab", ["Latency", "Memory", "Components", "Mapping"])
@pytest.mark.parametrize("generated_tokens", [1, 128])
def test_every_tab_is_drawn_without_an_error(tab, generated_tokens):
    explorer = Explorer(system="h100_80g_sxm", generated_tokens=generated_tokens, tab=tab)
    explorer.panel.tensor_parallel.slider.value = 2
    assert explorer.errors.value == ""
    assert explorer.result.chart_box.children[0].spec


def test_the_words_of_the_explanations_are_told_below_the_table(calibrated, analytical):
    assert "CTA: a block of threads on one SM" in calibrated.result.table.value
    assert "floor: what a kernel takes whatever its work is" in calibrated.result.table.value
    assert "bp-legend" not in analytical.result.table.value
