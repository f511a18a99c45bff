"""The commands put together, and what becomes of their errors."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import TextIO, cast

import click

from ..errors import BlueprintError, os_reason
from ..version import __version__
from .calibrate import calibrate
from .lab import lab
from .report import report
from .show import show
from .signals import clean_end
from .speech import Group, sentence, usage_sentence
from .streams import Messages, Results, ResultsError
from .sweep import sweep
from .validate import validate
from .vidur import vidur

BAD_INPUT = 2
INTERRUPTED = 130
UNWRITTEN = 1


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="blueprint-nb %(version)s")
def application() -> None:
    """What a language model, spread a certain way over a system, costs: does it fit, how slow is each decode step?"""


for _command in (report, sweep, vidur, show, lab, calibrate, validate):
    application.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns its exit status."""
    results, messages = cast(TextIO, Results(sys.stdout)), cast(TextIO, Messages(sys.stderr))
    with redirect_stdout(results), redirect_stderr(messages), clean_end():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        status = application.main(arguments, prog_name="blueprint-nb", standalone_mode=False)
    except BlueprintError as error:
        return _refuse(sentence(error))
    except click.UsageError as error:
        return _refuse(usage_sentence(error))
    except click.ClickException as error:
        return _refuse(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except ResultsError as error:
        return _unwritten(error.__cause__)
    return status or 0


def _refuse(message: str) -> int:
    click.echo(f"Error: {message}", err=True)
    return BAD_INPUT


def _unwritten(cause: BaseException | None) -> int:
    # A reader that went away, such as `head`, has what it wanted.
    if isinstance(cause, OSError) and not isinstance(cause, BrokenPipeError):
        click.echo(f"Error: standard output can't be written: {os_reason(cause)}.", err=True)
    return UNWRITTEN
