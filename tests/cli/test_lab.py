"""`blueprint-nb lab`: the notebooks are copied, never over what is there, and JupyterLab opens on the first."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from pathlib import Path

import pytest

from blueprint_nb.cli.signals import clean_end

from .conftest import Run


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were to be started; none is."""
    commands: list[list[str]] = []

    def start(command: list[str]) -> int:
        commands.append(command)
        return 0

    monkeypatch.setattr(LAB, "_run", start)
    return commands


LAB = importlib.import_module("blueprint_nb.cli.lab")
NAMES = sorted(path.name for path in LAB.notebooks_folder().glob("*.ipynb"))


def test_the_notebooks_are_copied_and_the_first_is_opened(run: Run, tmp_path: Path, started: list[list[str]]) -> None:
    folder = tmp_path / "mine"
    ran = run("lab", folder)
    assert (ran.status, ran.messages) == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    place = [f"--ServerApp.root_dir={folder.resolve()}", f"--LabApp.default_url=/lab/tree/{NAMES[0]}"]
    assert started == [[sys.executable, "-m", "jupyterlab", *place]]
    assert ran.output == f"{folder / NAMES[0]}\n"


def test_a_notebook_that_is_there_is_kept(run: Run, tmp_path: Path, started: list[list[str]]) -> None:
    (tmp_path / NAMES[0]).write_text("my own work")
    ran = run("lab", tmp_path)
    assert ran.status == 0
    assert ran.messages == f"Note: {tmp_path / NAMES[0]} was there already and is kept as it is.\n"
    assert (tmp_path / NAMES[0]).read_text() == "my own work"
    assert sorted(path.name for path in tmp_path.iterdir()) == NAMES


def test_without_a_folder_one_is_made_here(
    run: Run, tmp_path: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("lab", "--", "--no-browser").status == 0
    assert [path.name for path in tmp_path.iterdir()] == ["blueprint-notebooks"]
    assert started[0][3] == "--no-browser"


def test_without_jupyterlab_the_pip_line_is_given(
    run: Run, tmp_path: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LAB, "find_spec", lambda name: None)
    ran = run("lab", tmp_path / "mine")
    assert (ran.status, ran.output, started) == (2, "", [])
    assert ran.messages == "Error: blueprint-nb lab needs JupyterLab; run `pip install 'blueprint-nb[notebook]'`.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(run: Run, tmp_path: Path, started: list[list[str]]) -> None:
    (tmp_path / "mine").write_text("a file")
    ran = run("lab", tmp_path / "mine")
    assert (ran.status, ran.output, started) == (2, "", [])
    assert ran.messages == f"Error: {tmp_path / 'mine'} can't be made: file exists; name another folder.\n"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_told_to_end_it_ends_jupyterlab_too(tmp_path: Path) -> None:
    child = "import os, signal, time; os.kill(os.getppid(), signal.SIGTERM); time.sleep(60)"
    with pytest.raises(SystemExit) as caught, clean_end():
        LAB._run([sys.executable, "-c", child])
    assert caught.value.code == 128 + signal.SIGTERM
