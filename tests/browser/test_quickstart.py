"""The quickstart in JupyterLab in a real browser, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .offline import can_isolate, run_offline

pytestmark = pytest.mark.browser
NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "00_quickstart.ipynb"


@pytest.fixture(scope="module")
def seen(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return run_offline("drive_quickstart.py", chromium, NOTEBOOK, tmp_path_factory.mktemp("quickstart"))


def test_the_explorer_opens_with_a_verdict_a_chart_and_a_table(seen):
    assert "Fits" in seen["start"]["verdict"]
    assert "on 1 device" in seen["start"]["verdict"]
    assert "decode step" in seen["start"]["chart"]
    assert "MLP up" in seen["start"]["table"]


def test_dragging_the_tp_slider_changes_verdict_chart_and_table(seen):
    assert "on 8 devices" in seen["tensor_parallel"]["verdict"]
    for part in ("verdict", "chart", "table"):
        assert seen["tensor_parallel"][part] != seen["start"][part]
    assert "all reduce" in seen["tensor_parallel"]["table"]


def test_dragging_the_batch_slider_changes_verdict_chart_and_table(seen):
    for part in ("verdict", "chart", "table"):
        assert seen["batch"][part] != seen["tensor_parallel"][part]


def test_the_line_below_tp_is_visible_and_says_why(seen):
    assert "must divide the 32 attention heads" in seen["reasons"]


def test_nothing_goes_wrong_on_the_way(seen):
    assert seen["errors"] == []
    assert seen["trouble"] == []


def test_no_other_host_is_asked(seen):
    assert seen["off_host"] == []
    assert seen["isolated"] or not can_isolate()
