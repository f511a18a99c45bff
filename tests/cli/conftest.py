"""The command line, called as a function: `run("sweep", "--tp", "3")` gives status, output and messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from blueprint_nb.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    status: int
    output: str
    messages: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> Ran:
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(status, captured.out, captured.err)

    return call
