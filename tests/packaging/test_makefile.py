"""`make` sets up what it needs, says what is missing, and never takes a half-made environment for whole."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")

# Stands in for Python: passes the version check, "makes" environments whose own Python logs each call.
FAKE_PYTHON = """#!/bin/sh
case "$1 $2" in
  "-m venv") for folder; do :; done; rm -rf "$folder"; mkdir -p "$folder/bin"; cp "$0" "$folder/bin/python" ;;
  "-m pip") if [ "$3" = install ]; then echo "$@" >> calls.txt; test ! -e pip-fails; fi ;;
  "-m pytest") echo "$@" >> calls.txt ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the Makefile reads, in a folder whose name holds a space, with a stand-in for Python."""
    folder = tmp_path / "check out"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    write_program(folder / "python", FAKE_PYTHON)
    return folder


def write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in {"VENV", "MAKEFLAGS", "MAKELEVEL"}}
    return subprocess.run(
        ["make", "PYTHON=./python", "VENV=.venv", *arguments],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def installs(checkout: Path) -> list[str]:
    """What pip was asked to install, call by call."""
    calls = (checkout / "calls.txt").read_text().splitlines()
    return [line.split()[-1] for line in calls if "install" in line]


def test_the_second_run_installs_nothing(checkout: Path) -> None:
    assert make(checkout, "test").returncode == 0
    assert make(checkout, "test").returncode == 0

    assert installs(checkout) == [".[test]"]


def test_an_environment_with_the_tests_also_serves_the_notebooks(checkout: Path) -> None:
    make(checkout, "test")
    make(checkout, "lab")

    assert installs(checkout) == [".[test]"]


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_change_of_what_is_declared_installs_again(checkout: Path, name: str) -> None:
    make(checkout, "test")
    stamp = checkout / ".venv/.installed-test"
    os.utime(checkout / name, (stamp.stat().st_mtime + 10,) * 2)

    make(checkout, "test")

    assert installs(checkout) == [".[test]", ".[test]"]


def test_an_install_that_failed_is_tried_again(checkout: Path) -> None:
    (checkout / "pip-fails").touch()
    assert make(checkout, "test").returncode != 0
    (checkout / "pip-fails").unlink()

    assert make(checkout, "test").returncode == 0
    assert installs(checkout) == [".[test]", ".[test]"]


def test_an_environment_that_moved_with_its_checkout_is_made_anew(checkout: Path) -> None:
    make(checkout, "test")
    moved = checkout.rename(checkout.with_name("moved"))

    assert "Making .venv" in make(moved, "test").stdout
    assert installs(moved) == [".[test]", ".[test]"]


def test_a_python_that_is_too_old_is_named_with_the_way_out(checkout: Path) -> None:
    write_program(checkout / "python", '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2 || exit 1\n')

    run = make(checkout, "lab")

    assert run.returncode != 0
    assert "blueprint-nb needs Python >= 3.11, and './python' is not: it is Python 3.9.2." in run.stderr
    assert "make lab PYTHON=python3.12" in run.stderr
    assert not (checkout / ".venv").exists()


def test_a_python_without_venv_is_named_with_the_way_out(checkout: Path) -> None:
    write_program(checkout / "python", '#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\n')

    run = make(checkout, "report")

    assert run.returncode != 0
    assert "'./python' cannot make virtual environments" in run.stderr
    assert "apt-get install python3-venv" in run.stderr
    assert not (checkout / ".venv").exists()


def test_make_without_a_target_lists_the_targets(checkout: Path) -> None:
    run = make(checkout)

    assert run.returncode == 0
    for target in ("lab", "test", "report", "lint"):
        assert f"make {target} " in run.stdout
