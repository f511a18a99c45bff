from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import blueprint_nb as bp
from blueprint_nb.analysis import estimate_request
from blueprint_nb.errors import InvalidInputError, MissingExtraError, OutputError
from blueprint_nb.report import read_inputs, render_report, write, write_report
from blueprint_nb.report.saved_inputs import saved_inputs


@pytest.fixture
def quick(monkeypatch) -> str:
    """A page that costs nothing, where only the file matters."""
    monkeypatch.setattr(write, "render_report", lambda estimate, baseline: "a page")
    return "a page"


def test_a_report_is_the_page_in_utf_8(tmp_path, html_of, estimate_of):
    path = write_report(estimate_of("one_step"), tmp_path / "report.html")
    assert path == tmp_path / "report.html"
    assert path.read_text(encoding="utf-8") == html_of("one_step")


def test_an_estimate_writes_its_own_report(tmp_path, estimate_of, quick):
    assert estimate_of("one_step").report(tmp_path / "report.html").read_text() == quick


def test_the_inputs_of_a_report_give_the_same_estimate_again(tmp_path, html_of, estimate_of):
    for case in ("one_step", "calibrated", "hostile", "dense_with_drop"):
        path = tmp_path / f"{case}.html"
        path.write_text(html_of(case), encoding="utf-8")
        inputs = read_inputs(path)
        assert inputs == estimate_of(case).inputs
        assert estimate_request(inputs).to_json() == estimate_of(case).to_json()


def test_saved_inputs_are_the_same_under_every_hash_seed():
    saved = saved_inputs(bp.estimate("opt-13b", "h100_80g_nvl8", generated_tokens=2).inputs)
    biases = saved["inputs"]["model"]["biases"]
    assert len(biases) > 1
    assert biases == sorted(biases)
    assert json.loads(json.dumps(saved)) == saved


def test_a_file_without_inputs_is_refused(tmp_path):
    path = tmp_path / "other.html"
    path.write_text("<p>nothing</p>", encoding="utf-8")
    with pytest.raises(InvalidInputError) as caught:
        read_inputs(path)
    assert (
        str(caught.value)
        == f"{path} can't be read as a report: there are no inputs in it. Name a file that write_report made."
    )


def test_a_missing_report_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="can't be read as a report: No such file or directory"):
        read_inputs(tmp_path / "absent.html")


def test_a_folder_is_no_file(tmp_path, estimate_of, quick):
    with pytest.raises(OutputError) as caught:
        write_report(estimate_of("one_step"), tmp_path)
    assert str(caught.value) == f"{tmp_path} can't be written: it is a folder. Name a file."


def test_a_missing_folder_is_named(tmp_path, estimate_of, quick):
    path = tmp_path / "absent" / "report.html"
    with pytest.raises(OutputError) as caught:
        write_report(estimate_of("one_step"), path)
    assert (
        str(caught.value) == f"{path} can't be written: no such file or directory. Make the folder {path.parent} first."
    )


def test_a_failing_disk_leaves_the_old_file(tmp_path, estimate_of, monkeypatch, quick):
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(self: Path, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError) as caught:
        write_report(estimate_of("one_step"), path)
    assert str(caught.value) == f"{path} can't be written: no space left on device. Name another file."
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_page_that_fails_midway_leaves_the_old_file(tmp_path, estimate_of, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def broken(estimate: bp.Estimate, baseline: object) -> str:
        raise RuntimeError("midway")

    monkeypatch.setattr(write, "render_report", broken)
    with pytest.raises(RuntimeError, match="midway"):
        write_report(estimate_of("one_step"), path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("missing", ["altair", "jinja2", "vl_convert"])
def test_a_missing_library_names_the_extra(tmp_path, estimate_of, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    for call in (render_report, lambda estimate: write_report(estimate, tmp_path / "report.html")):
        with pytest.raises(MissingExtraError) as caught:
            call(estimate_of("one_step"))
        expected = (
            f"report needs {missing}, which is not installed. "
            "Run: pip install 'blueprint-nb[notebook]' (in a checkout: pip install '.[notebook]')"
        )
        assert str(caught.value) == expected
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [5, None, ["report.html"], b"report.html"])
def test_what_is_no_path_is_refused_before_a_page_is_made(estimate_of, monkeypatch, path):
    monkeypatch.setattr(write, "render_report", lambda estimate, baseline: pytest.fail("a page was made"))
    with pytest.raises(InvalidInputError) as caught:
        estimate_of("one_step").report(path)
    assert str(caught.value) == f"path must be a path as text. Got {path!r}."


def test_a_report_is_not_written_where_a_folder_is_named(tmp_path, estimate_of, quick):
    with pytest.raises(OutputError, match=r"new\.html/ can't be written: it names a folder"):
        estimate_of("one_step").report(f"{tmp_path}/new.html/")
    assert list(tmp_path.iterdir()) == []
