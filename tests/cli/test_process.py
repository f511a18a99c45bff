"""The command line as a process: streams, statuses, closed pipes, interrupts, and what it imports."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from blueprint_nb.cli import main
from blueprint_nb.cli.application import application

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "blueprint_nb.cli"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def process(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**ENVIRONMENT, **more},
    )


def test_the_version_is_printed_without_loading_the_engine() -> None:
    code = (
        "import sys\nfrom blueprint_nb.cli import main\nstatus = main(['--version'])\n"
        "heavy = {'numpy', 'polars', 'pydantic', 'altair', 'ipywidgets', 'jupyterlab'}.intersection(sys.modules)\n"
        "raise SystemExit(status or ', '.join(heavy) or 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True, env=ENVIRONMENT)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("blueprint-nb ")


def test_a_result_goes_to_standard_output_alone() -> None:
    ran = process("sweep", "--tp", "1", "--batch", "1", "--context", "1024")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("llama-3.1-8b on h100_80g_sxm")


def test_bad_input_shows_no_traceback() -> None:
    ran = process("sweep", "--tp", "three")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.splitlines() == [
        "Error: --tp must be an integer (got 'three'); write a list such as 1,2,4 or a range such as 1024:8192:1024."
    ]


@pytest.mark.skipif(os.name != "posix", reason="pipes of a POSIX shell")
@pytest.mark.parametrize("arguments", ["sweep --context 1:500", "vidur", "show system b200", "--help"])
def test_a_reader_that_goes_away_is_no_fault(arguments: str) -> None:
    ran = subprocess.run(
        f"'{sys.executable}' -m blueprint_nb.cli {arguments} | true",
        shell=True,
        capture_output=True,
        check=False,
        text=True,
        env=ENVIRONMENT,
    )
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_ends_with_status_130_and_no_traceback(tmp_path: Path) -> None:
    code = "import os, signal, sys\nfrom blueprint_nb.cli import main\nimport blueprint_nb.front_door as door\n"
    code += "door.sweep = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)\nsys.exit(main(['sweep']))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True, env=ENVIRONMENT)
    assert ran.returncode == 128 + signal.SIGINT
    assert ran.stdout + ran.stderr.strip() == ""


ENDED_HALFWAY = """
import os, signal, sys
from blueprint_nb.cli import main
from blueprint_nb.cli.sweep import WRITERS
def half_a_file(frame, file):
    file.write(b"half")
    os.kill(os.getpid(), signal.{name})
WRITERS[".csv"] = half_a_file
sys.exit(main(["sweep", "--output", "sweep.csv"]))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_being_told_to_end_leaves_no_half_written_file(tmp_path: Path, name: str) -> None:
    # A test run that was itself started under nohup hands its ignored signals down.
    heeded = f"import signal\nsignal.signal(signal.{name}, signal.SIG_DFL)\n"
    code = [sys.executable, "-c", heeded + ENDED_HALFWAY.format(name=name)]
    ran = subprocess.run(code, capture_output=True, check=False, text=True, env=ENVIRONMENT, cwd=tmp_path)
    assert ran.returncode == 128 + signal.Signals[name]
    assert ran.stdout + ran.stderr == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_signal_that_is_ignored_as_under_nohup_stays_so(tmp_path: Path) -> None:
    code = f"import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n{ENDED_HALFWAY.format(name='SIGHUP')}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, env=ENVIRONMENT, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert (tmp_path / "sweep.csv").read_bytes() == b"half"


CLOSED, FULL = "&-", "/dev/full"


def shell(line: str) -> subprocess.CompletedProcess[str]:
    command = f"'{sys.executable}' -m blueprint_nb.cli {line}"
    return subprocess.run(command, shell=True, capture_output=True, check=False, text=True, env=ENVIRONMENT)


@pytest.mark.skipif(not Path(FULL).exists(), reason="a device of Linux")
@pytest.mark.parametrize(("stream", "reason"), [(CLOSED, "bad file descriptor"), (FULL, "no space left on device")])
@pytest.mark.parametrize("arguments", ["--version", "--help", "show models", "sweep --tp 1 --batch 1"])
def test_a_result_that_cannot_be_written_is_said_in_a_sentence(arguments: str, stream: str, reason: str) -> None:
    ran = shell(f"{arguments} >{stream}")
    assert (ran.returncode, ran.stderr) == (1, f"Error: standard output can't be written: {reason}.\n")
    assert (shell(f"{arguments} >{stream} 2>{stream}")).returncode == 1


@pytest.mark.skipif(not Path(FULL).exists(), reason="a device of Linux")
@pytest.mark.parametrize("stream", [CLOSED, FULL])
@pytest.mark.parametrize(
    ("arguments", "status"),
    [("show model zzz", 2), ("sweep --zzz", 2), ("sweep --tp 1 --batch 1024 --context 131072", 0)],
)
def test_a_message_that_cannot_be_written_changes_no_status(arguments: str, status: int, stream: str) -> None:
    ran = shell(f"{arguments} 2>{stream}")
    assert ran.returncode == status
    assert bool(ran.stdout) == (status == 0)


def test_a_terminal_that_cannot_show_a_sign_gets_another() -> None:
    ran = process("show", "models", PYTHONIOENCODING="latin-1")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert set(ran.stdout.splitlines()[2]) == {"?"}


@pytest.mark.parametrize("arguments", [[], ["show"], ["--help"], ["sweep", "-h"]])
def test_help_is_a_result(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Usage: blueprint-nb")
    assert captured.err == ""


def test_every_option_has_a_help_text_and_a_default() -> None:
    without = {"attention", "compute", "all_reduce", "send_recv", "html", "output"}
    for name in ("report", "sweep", "vidur"):
        for option in application.commands[name].params:
            assert getattr(option, "help", ""), option.name
            has_default = option.default is not None or isinstance(getattr(option, "show_default", None), str)
            assert has_default or option.name in without, option.name
