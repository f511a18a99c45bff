"""What the README shows is what happens: its Python runs and prints what stands below it, its commands run."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
from pathlib import Path

import pytest

from blueprint_nb.catalog import profiles_folder

from .conftest import Run

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
COMMANDS = [
    line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines() if line.startswith("blueprint-nb")
]


def test_its_python_prints_what_it_says(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    shown = [(kind, text) for kind, text in BLOCKS if kind in ("python", "text")]
    assert [kind for kind, _ in shown] == 2 * ["python", "text"]
    for (_, code), (_, printed) in zip(shown[::2], shown[1::2], strict=True):
        exec(compile(code, "README.md", "exec"), {})
        assert capsys.readouterr().out == printed


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_run(run: Run, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(importlib.import_module("blueprint_nb.cli.lab"), "_run", lambda command: 0)
    shutil.copy(profiles_folder() / "models" / "llama-3.1-8b.toml", "my-model.toml")
    shutil.copy(profiles_folder() / "systems" / "b200.toml", "my-system.toml")
    for measured in (profiles_folder() / "vidur" / "phi2_a100_tp1").glob("*.csv"):
        shutil.copy(measured, measured.name)
    ran = run(*shlex.split(command)[1:])
    recorded = "Note: no measurements given; these are the figures recorded in the parameter files.\n"
    assert (ran.status, ran.messages) == (0, recorded if "validate" in command else "")
    assert ran.output


def test_its_report_is_of_contexts_over_which_a_decode_step_grows(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = next(command for command in COMMANDS if shlex.split(command)[1] == "report")
    said = re.search(r"decode ([\d.]+) → ([\d.]+) ms/step", run(*shlex.split(command)[1:]).output)
    assert said is not None
    assert float(said[2]) > 1.05 * float(said[1])


def test_it_shows_every_command() -> None:
    assert {shlex.split(command)[1] for command in COMMANDS} == {"report", "sweep", "validate", "vidur", "show", "lab"}


def test_what_it_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_it_names_no_address_and_no_path_of_a_machine() -> None:
    assert re.findall(r"https?://|/home/|/work|/Users/|/root", README) == []
