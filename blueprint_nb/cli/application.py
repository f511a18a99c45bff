"""The commands put together, and what becomes of their errors."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import click

from ..errors import BlueprintError
from ..version import __version__
from .lab import lab
from .report import report
from .show import show
from .speech import Group, sentence, usage_sentence
from .sweep import sweep

BAD_INPUT = 2
INTERRUPTED = 130
CLOSED_PIPE = 1


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="blueprint-nb %(version)s")
def application() -> None:
    """What a language model, spread a certain way over a system, costs: does it fit, how slow is each decode step?"""


for _command in (report, sweep, show, lab):
    application.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # µ and · must not end a run on a terminal that can't show them.
            stream.reconfigure(errors="replace")
    try:
        status = application.main(arguments, prog_name="blueprint-nb", standalone_mode=False)
        sys.stdout.flush()
    except BlueprintError as error:
        return _refuse(sentence(error))
    except click.UsageError as error:
        return _refuse(usage_sentence(error))
    except click.ClickException as error:
        return _refuse(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # What is still buffered would fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    return status or 0


def _refuse(message: str) -> int:
    click.echo(f"Error: {message}", err=True)
    return BAD_INPUT
