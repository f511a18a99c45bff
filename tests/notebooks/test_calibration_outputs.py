"""The notebook of the calibration keeps figures of the parameter files alone, and a refit has to be shown in it."""

from __future__ import annotations

from pathlib import Path

import nbformat

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "03_calibration.ipynb"
MARK = "NBVAL_CHECK_OUTPUT"


def code_cells() -> list[nbformat.NotebookNode]:
    return [cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]


def test_no_figure_of_data_outside_the_project_is_kept():
    cells = code_cells()
    first = next(index for index, cell in enumerate(cells) if "BLUEPRINT_NB_VIDUR_DATA" in cell.source)
    assert [output.text for cell in cells[first:] for output in cell.outputs] == [
        "BLUEPRINT_NB_VIDUR_DATA is not set: the figures above are those of the parameter files.\n",
        "No predictors to compare.\n",
        "No points to draw.\n",
        "No lines to draw.\n",
        "No worst kernels to list.\n",
        "No bands to test.\n",
    ]
    assert not any(MARK in cell.source for cell in cells[first:])


def test_figures_of_the_parameter_files_are_checked_when_the_notebook_is_run():
    checked = [cell.source for cell in code_cells() if MARK in cell.source]
    assert any("recorded_errors" in source for source in checked)
    assert any("recorded_bands" in source for source in checked)
