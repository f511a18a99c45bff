from __future__ import annotations

from pathlib import Path

from blueprint_nb_widgets.report_button import file_name

from blueprint_nb import Estimate, load_model
from blueprint_nb.errors import OutputError


def test_the_report_is_written_next_to_the_notebook_and_linked(explorer, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    explorer.report.click()
    name = "report-llama-3.1-8b-h100_80g_sxm-tp1-pp1-b1-1024+128.html"
    assert (tmp_path / name).read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    shown = explorer.report.line.outputs[0]["data"]
    assert f'href="{name}"' in shown["text/html"]
    assert shown["text/plain"] == f"Report written: {name}"
    assert explorer.report.description == "Report"
    assert not explorer.report.disabled


def test_a_report_that_can_not_be_written_is_an_error_below(explorer, monkeypatch):
    def refuse(estimate: Estimate, path: Path) -> Path:
        raise OutputError("output", got=str(path), rule="can't be written", next_step="Choose another folder.")

    monkeypatch.setattr(Estimate, "report", refuse)
    explorer.report.click()
    assert "Choose another folder." in explorer.errors.value
    assert explorer.report.line.outputs == ()
    assert not explorer.report.disabled


def test_a_hostile_name_makes_a_harmless_file_name(explorer):
    model = load_model("llama-3.1-8b").model_copy(update={"name": "../../etc/<b>"})
    inputs = explorer.estimate.inputs.model_copy(update={"model": model})

    class Named:
        pass

    named = Named()
    named.inputs = inputs
    assert file_name(named) == "report-etc-b-h100_80g_sxm-tp1-pp1-b1-1024+128.html"
