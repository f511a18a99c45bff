"""The quickstart in JupyterLab in a real browser, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blueprint_nb import Estimate, estimate
from blueprint_nb.cost import MODES
from blueprint_nb.report.component_table import component_table
from blueprint_nb.report.error_rows import CaseErrors, ErrorRow, case_errors
from blueprint_nb.units import format_seconds
from blueprint_nb.validation import error_report

from .offline import can_isolate, run_offline

pytestmark = pytest.mark.browser
NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "00_quickstart.ipynb"


@pytest.fixture(scope="module")
def seen(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return run_offline("drive_quickstart.py", chromium, NOTEBOOK, tmp_path_factory.mktemp("quickstart"))


def defaults_with(**request: int) -> Estimate:
    """What the engine makes of the explorer's start values, some of them changed."""
    return estimate("llama-3.1-8b", "h100_80g_sxm", prompt_tokens=1024, generated_tokens=128, **request)


def assert_shows(view: dict[str, str], engine: Estimate) -> None:
    """The verdict whole, the last decode step at the end of the line, and the seconds of the listed components."""
    assert [part for part in engine.verdict.parts if part not in view["verdict"]] == []
    assert f">{format_seconds(float(engine.decode_seconds[-1]))}</text>" in view["chart"]
    seconds = {row.component: row.seconds for row in component_table(engine, "decode")}
    listed = [line.split("\t") for line in view["table"].splitlines()]
    listed = {cells[0]: cells[1] for cells in listed if cells[0] in seconds}
    assert len(listed) == 6
    assert listed.items() <= seconds.items()


def test_the_explorer_opens_with_a_verdict_a_chart_and_a_table(seen):
    assert_shows(seen["start"], defaults_with())
    assert "on 1 device" in seen["start"]["verdict"]
    assert "decode step" in seen["start"]["chart"]


def test_dragging_the_tp_slider_to_its_end_shows_what_the_engine_says_of_8_devices(seen):
    assert_shows(seen["tensor_parallel"], defaults_with(tensor_parallel=8))
    assert "on 8 devices" in seen["tensor_parallel"]["verdict"]
    assert "all reduce" in seen["tensor_parallel"]["table"]


def test_dragging_the_batch_slider_shows_what_the_engine_says_of_the_batch_in_its_box(seen):
    assert seen["batch_size"] > 1
    assert_shows(seen["batch"], defaults_with(tensor_parallel=8, batch_size=seen["batch_size"]))


def test_the_line_below_tp_is_visible_and_says_why(seen):
    assert "must divide the 32 attention heads" in seen["reasons"]


def test_the_error_tab_says_that_nothing_was_measured_of_the_first_model(seen):
    assert "No measured profile of llama-3.1-8b on h100_80g_sxm is at hand" in seen["measured"]["nothing"]


@pytest.fixture(scope="module")
def errors() -> CaseErrors:
    """Of the case whose table is seen."""
    estimated = estimate("phi-2-dense-mha", "a100_80g", prompt_tokens=1024, generated_tokens=128)
    return case_errors(error_report(estimated), "decode 1,025")


def measured_rows(errors: CaseErrors) -> list[ErrorRow]:
    return [row for row in errors.rows if row.state == "matched"]


def band_lines(row: ErrorRow) -> str:
    """The band of the one mode that has them, and below it whether what was measured lies inside."""
    (cell,) = (cell for cell in row.cells if cell.band)
    return f"{cell.band}\n{'within' if cell.in_band else 'outside'}"


def test_the_error_tab_shows_each_component_beside_its_measured_kernel_in_all_modes(seen, errors):
    rows = {row[0]: row[1:] for row in seen["measured"]["rows"]}
    assert tuple(errors.modes) == MODES
    assert len(measured_rows(errors)) == 8
    for row in measured_rows(errors):
        assert rows[row.component] == [
            *(cell.estimate for cell in row.cells),
            row.reference,
            *(cell.error for cell in row.cells),
            band_lines(row),
        ]
    assert "not covered: no row: attention.csv" in rows["Attention core"][-1]


def test_each_error_has_its_bar_within_the_table_and_one_chart_below(seen, errors):
    with_subtotal = len(measured_rows(errors)) + 1
    assert seen["measured"]["bars"] == len(MODES) * with_subtotal
    assert seen["measured"]["charts"] == 1
    assert seen["measured"]["overflow"] <= 0


def test_every_tab_shows_its_last_line_in_windows_of_several_sizes(seen):
    assert seen["cut"] == []


def test_nothing_goes_wrong_on_the_way(seen):
    assert seen["errors"] == []
    assert seen["trouble"] == []


def test_no_other_host_is_asked(seen):
    assert seen["off_host"] == []
    assert seen["isolated"] or not can_isolate()
