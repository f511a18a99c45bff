"""nbval passes a checked cell that has neither count nor output, so these are looked for here."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
MARK = "NBVAL_CHECK_OUTPUT"
MACHINE_PATHS = re.compile(r"(?:/(?:home|root|tmp|work|Users|usr|var|opt|mnt)/|[A-Za-z]:\\\\)")


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def checked_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [cell for cell in code_cells(path) if MARK in cell.source]


def test_there_are_notebooks():
    assert "00_quickstart" in [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_checks_results_that_matter(path):
    assert checked_cells(path)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_checked_cell_has_an_output_and_a_count(path):
    for cell in checked_cells(path):
        assert cell.outputs, cell.source
        assert cell.execution_count, cell.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_cell_ends_in_an_error(path):
    kinds = [output.output_type for cell in code_cells(path) for output in cell.outputs]
    assert "error" not in kinds


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_widget_state_is_kept(path):
    assert "widgets" not in nbformat.read(path, as_version=4).metadata
    assert "application/vnd.jupyter.widget-view+json" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_path_of_a_machine_is_kept(path):
    assert not MACHINE_PATHS.search(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_stays_small(path):
    assert path.stat().st_size < 200_000


def test_no_figure_of_data_outside_the_project_is_kept():
    path = next(path for path in NOTEBOOKS if path.stem == "02_vidur_error")
    cells = code_cells(path)
    first = next(index for index, cell in enumerate(cells) if "BLUEPRINT_NB_VIDUR_DATA" in cell.source)
    assert [output.text for cell in cells[first:] for output in cell.outputs] == [
        "BLUEPRINT_NB_VIDUR_DATA is not set: the cells below have no profiles to read.\n",
        "No coverage to print.\n",
        "No errors to draw.\n",
    ]
    assert not any(MARK in cell.source for cell in cells[first:])
