"""`blueprint-nb report`: the options reach the estimate, the verdict and the path reach standard output."""

from __future__ import annotations

from pathlib import Path

import pytest

from blueprint_nb.analysis import Estimate
from blueprint_nb.catalog import load_system
from blueprint_nb.cli.options import DEFAULT_SYSTEM
from blueprint_nb.errors import MissingExtraError

from .conftest import Run


@pytest.fixture
def estimates(monkeypatch: pytest.MonkeyPatch) -> list[Estimate]:
    """The estimates that a report was asked of; no report is drawn."""
    asked: list[Estimate] = []

    def report(estimate: Estimate, path: Path) -> Path:
        asked.append(estimate)
        return path

    monkeypatch.setattr(Estimate, "report", report)
    return asked


def test_a_report_is_written_and_its_path_printed_last(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a report.html"
    ran = run("report", "--output", path)
    assert (ran.status, ran.messages) == (0, "")
    assert ran.output.splitlines()[-1] == str(path)
    assert path.read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_the_verdict_is_the_estimates_own(run: Run, estimates: list[Estimate]) -> None:
    ran = run("report")
    verdict, path = ran.output.rsplit("\n", 2)[:2]
    assert path == "report.html"
    assert verdict.replace("\n", " · ") == estimates[0].summary()
    assert max(len(line) for line in ran.output.splitlines()) <= 100


def test_without_a_calibration_the_verdict_ends_with_the_mode(run: Run, estimates: list[Estimate]) -> None:
    ran = run("report", "--system", "h100_80g_nvl8")
    verdict = ran.output.rsplit("\n", 2)[0]
    assert verdict.replace("\n", " · ") == f"{estimates[0].summary()} · system-evidence"
    assert "calibrated" not in verdict


def test_every_option_reaches_the_estimate(run: Run, estimates: list[Estimate]) -> None:
    line = (
        "report --model llama-3.1-70b --system a100_80g --tp 4 --pp 2 --replicas 3 --batch 5 --prompt 600 "
        "--generated 7 --datatype float16 --mode peak-only --attention paged --tp-network 1 --pp-network 1"
    )
    assert run(*line.split()).status == 0
    inputs = estimates[0].inputs
    assert (inputs.model.name, inputs.system.name) == ("llama-3.1-70b", "a100_80g")
    assert inputs.mapping.model_dump() == {"tensor_parallel": 4, "pipeline_parallel": 2, "replicas": 3}
    assert inputs.request.model_dump() == {
        "batch_size": 5,
        "prompt_tokens": 600,
        "generated_tokens": 7,
        "datatype": "float16",
    }
    assert inputs.network.model_dump() == {"tensor_parallel_network": 1, "pipeline_parallel_network": 1}
    assert (inputs.mode, inputs.attention) == ("peak-only", "paged")


def test_the_default_system_is_calibrated_unless_another_mode_is_asked_for(run: Run, estimates: list[Estimate]) -> None:
    ran = run("report", "--generated", "2")
    assert run("report", "--calibration", "pooled", "--generated", "2").status == 0
    assert run("report", "--mode", "peak-only", "--generated", "2").status == 0
    assert run("report", "--system", "a100_80g", "--calibration", "vidur", "--generated", "2").status == 0
    asked = [(one.inputs.mode, one.inputs.calibration) for one in estimates]
    best = load_system(DEFAULT_SYSTEM).calibrations[0]
    assert asked == [("calibrated", best), ("calibrated", "pooled"), ("peak-only", ""), ("calibrated", "vidur")]
    assert f"calibrated by {best}" in ran.output
    assert "90 % between" in ran.output


def test_what_does_not_fit_is_a_result_with_a_warning(run: Run, estimates: list[Estimate]) -> None:
    ran = run("report", "--model", "llama-3.1-70b")
    verdict = estimates[0].verdict
    assert ran.status == 0
    assert ran.output.startswith("Does not fit · ")
    assert ran.messages == f"Warning: it does not fit: {verdict.memory}; {verdict.fix}.\n"


def test_without_the_extra_the_pip_line_is_given(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def report(estimate: Estimate, path: Path) -> Path:
        raise MissingExtraError("report", rule="needs altair", next_step="Run `pip install 'blueprint-nb[notebook]'`.")

    monkeypatch.setattr(Estimate, "report", report)
    ran = run("report")
    assert (ran.status, ran.output) == (2, "")
    assert ran.messages == "Error: report needs altair; run `pip install 'blueprint-nb[notebook]'`.\n"


def test_a_report_that_cannot_be_written_leaves_nothing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "no" / "report.html"
    ran = run("report", "--output", path)
    assert (ran.status, ran.output) == (2, "")
    assert ran.messages.startswith(f"Error: --output {path} can't be written: ")
    assert list(tmp_path.iterdir()) == []
