"""A report in a real browser, from its file, without a network."""

from __future__ import annotations

from typing import Any

import pytest

from blueprint_nb import estimate

from .offline import can_isolate, run_offline

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def seen(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("report") / "report.html"
    estimate("llama-3.1-8b", "h100_80g_nvl8", tensor_parallel=2, batch_size=8).report(path)
    return run_offline("drive_report.py", chromium, path)


def test_the_charts_render(seen):
    assert seen["full"]["charts"] >= 3


def test_the_verdict_and_the_tables_are_readable_without_scripts(seen):
    assert "Fits" in seen["plain"]["text"]
    assert any("QKV projection" in row for row in seen["plain"]["rows"])


@pytest.mark.parametrize("way", ["full", "plain"])
def test_no_host_is_asked_and_nothing_complains(seen, way):
    assert seen[way]["off_host"] == []
    assert seen[way]["errors"] == []
    assert seen["isolated"] or not can_isolate()
