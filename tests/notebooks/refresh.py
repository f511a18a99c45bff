"""Runs notebooks and keeps their outputs and counts: `python tests/notebooks/refresh.py notebooks/*.ipynb`.

What would differ from run to run, or say where it was run, is left out: widget state and views, times, versions. So
are figures of data that is not part of the project, which a notebook reads where the environment names it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

_VIEW = "application/vnd.jupyter.widget-view+json"


def refresh(path: Path) -> None:
    """Runs one notebook in its own folder."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=120, record_timing=False, resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    notebook.metadata.pop("widgets", None)
    notebook.metadata.language_info = {"name": "python"}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(_VIEW, None)
    _write(notebook, path)


def _write(notebook: Any, path: Path) -> None:
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    os.environ.pop("BLUEPRINT_NB_VIDUR_DATA", None)
    for name in sys.argv[1:]:
        refresh(Path(name))
