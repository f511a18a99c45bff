"""What profiles say reaches a terminal as text, never as commands to it."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import TextIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.catalog import profiles_folder
from blueprint_nb.cli.progress import fitting
from blueprint_nb.cli.streams import Messages, Results
from blueprint_nb.text import printable

from .conftest import Ran, Run

HOSTILE = "a\x1b[31mb\x07\x00\x9b\u202ec"
SHOWN = r"a\x1b[31mb\x07\x00\x9b\u202ec"


def in_toml(text: str) -> str:
    return "".join(f"\\u{ord(sign):04x}" for sign in text)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return rewritten(profiles_folder() / "models" / "llama-3.1-8b.toml", r"^(name|source|notes) = .*$", tmp_path)


@pytest.fixture
def system(tmp_path: Path) -> Path:
    shipped = profiles_folder() / "systems" / "h100_80g_nvl8.toml"
    return rewritten(shipped, r"^(name|description) = .*$", tmp_path)


def rewritten(shipped: Path, fields: str, folder: Path) -> Path:
    hostile = in_toml(HOSTILE + "\nd")
    text = shipped.read_text(encoding="utf-8")
    path = folder / shipped.name
    path.write_text(re.sub(fields, lambda line: f'{line[1]} = "{hostile}"', text, flags=re.MULTILINE), encoding="utf-8")
    return path


def is_harmless(ran: Ran) -> bool:
    return all(line.isprintable() for line in (ran.output + ran.messages).split("\n"))


def test_a_hostile_model_is_shown_as_it_is_written(run: Run, model: Path) -> None:
    ran = run("show", "model", model)
    assert ran.status == 0
    assert ran.output.startswith(f"{SHOWN} d\n\n")
    assert is_harmless(ran)


def test_a_hostile_system_is_shown_as_it_is_written(run: Run, system: Path) -> None:
    ran = run("show", "system", system)
    assert ran.status == 0
    assert ran.output.startswith(f"{SHOWN} d: {SHOWN} d\n")
    assert f"network 0      {SHOWN} d\n" in ran.output
    assert is_harmless(ran)


def test_a_hostile_name_takes_one_line_of_a_sweep(run: Run, model: Path, system: Path) -> None:
    ran = run("sweep", "--model", model, "--system", system, "--tp", "1,16", "--batch", "1", "--context", "64")
    assert ran.status == 0
    assert ran.output.splitlines()[0].startswith(f"{SHOWN} d on {SHOWN} d · decode step")
    assert is_harmless(ran)


def test_hostile_names_and_keys_take_one_line_of_an_error(run: Run, model: Path, system: Path) -> None:
    ran = run("sweep", "--model", model, "--system", system, "--tp-network", "7")
    assert ran.status == 2
    assert SHOWN in ran.messages
    assert ran.messages.count("\n") == 1
    assert is_harmless(ran)
    model.write_text(f'"{in_toml(HOSTILE)}" = 1\n{model.read_text(encoding="utf-8")}', encoding="utf-8")
    ran = run("show", "model", model)
    assert ran.status == 2
    assert SHOWN in ran.messages
    assert is_harmless(ran)


@given(st.text())
def test_whatever_is_written_commands_no_terminal(text: str) -> None:
    lines = printable(text).split("\n")
    assert all(sign.isprintable() or sign.isspace() for line in lines for sign in line)
    assert not set(printable(text)) & {"\t", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"}


@pytest.mark.parametrize("text", ["µs · × ÷ ─ – … → ✕ 漢字 é", "two words\nand lines\n", "no\xa0break \u3000wide", ""])
def test_other_text_is_written_as_it_is(text: str) -> None:
    stream = io.StringIO()
    Results(stream).write(text)
    assert stream.getvalue() == text


class Terminal(io.StringIO):
    """One that keeps what it is sent."""

    def isatty(self) -> bool:
        return True


class GoneTerminal(Terminal):
    """One whose window was closed."""

    refused = 0

    def write(self, text: str, /) -> int:
        self.refused += 1
        raise OSError(5, "Input/output error")

    def fileno(self) -> int:
        raise OSError


def fit(monkeypatch: pytest.MonkeyPatch, stream: TextIO | None, *, wrapped: bool) -> None:
    """Two steps, with `stream` as standard error."""
    monkeypatch.setattr(sys, "stderr", cast(TextIO, Messages(stream)) if wrapped else stream)
    with fitting(2) as progress:
        progress("one")
        progress("two")


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_terminal_gets_a_bar_that_redraws_its_line(monkeypatch: pytest.MonkeyPatch, wrapped: bool) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    fit(monkeypatch, stream, wrapped=wrapped)
    written = stream.getvalue()
    assert written.count("\r") == 3
    assert written.count("\n") == 1
    assert r"\r" not in written
    assert r"\x1b" not in written
    assert [line[6:53] for line in written.split("\r")[1:]] == [
        f"Fitting  [{'-' * 36}]",
        f"Fitting  [{'#' * 18}{'-' * 18}]",
        f"Fitting  [{'#' * 36}]",
    ]
    assert written.endswith("\x1b[?25h\n")


@pytest.mark.parametrize("wrapped", [True, False])
@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_elsewhere_nothing_is_animated(
    monkeypatch: pytest.MonkeyPatch, wrapped: bool, stream: io.StringIO | None
) -> None:
    fit(monkeypatch, stream, wrapped=wrapped)
    assert stream is None or not stream.getvalue()


def test_a_terminal_that_obeys_nothing_gets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    fit(monkeypatch, stream, wrapped=True)
    assert not stream.getvalue()


def test_a_terminal_that_is_gone_ends_no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    gone = GoneTerminal()
    fit(monkeypatch, gone, wrapped=True)
    assert gone.refused > 0
