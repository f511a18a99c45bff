"""How the command line speaks of errors: one sentence, in the words of its options.

The engine names its own fields (`tensor_parallel`); a user of the command line has typed `--tp`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import click

from ..errors import BlueprintError, OutputError

OPTIONS = {
    "tensor_parallel_network": "--tp-network",
    "pipeline_parallel_network": "--pp-network",
    "tensor_parallel": "--tp",
    "pipeline_parallel": "--pp",
    "replicas": "--replicas",
    "batch_size": "--batch",
    "prompt_tokens": "--prompt",
    "generated_tokens": "--generated",
    "context_tokens": "--context",
    "model": "--model",
    "system": "--system",
    "datatype": "--datatype",
    "mode": "--mode",
    "calibration": "--calibration",
    "attention": "--attention",
    "phase": "--phase",
    "model_name": "--measured-model",
    "hardware_name": "--measured-hardware",
    "network_name": "--measured-network",
    "attention_backend": "--backend",
    "block_size": "--block-size",
    "source_revision": "--source-revision",
    "stack": "--stack",
    "target": "--target",
}
"""The engine's field to the option that sets it."""

_WRITERS = ("--output", "--html")
"""Options that name the file to write; a command has one of them."""

LONGEST_WORD = 200

_UNMISTAKABLE = "|".join(sorted((field for field in OPTIONS if "_" in field), key=len, reverse=True))
_FIELD = re.compile(rf"(?<![\w.])({_UNMISTAKABLE})(?![\w.]*\w)")
_ASSIGNED = re.compile(r"\b(mode|calibration|datatype|attention)='([\w-]+)'")


class Command(click.Command):
    """A command whose errors name its own options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the arguments. Raises `click.UsageError` that knows which command was meant."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command. Raises `click.UsageError` in place of the engine's errors."""
        try:
            return super().invoke(ctx)
        except BlueprintError as error:
            known = {option for parameter in self.params for option in parameter.opts}
            line = sentence(error, known, otherwise=f"see `{ctx.command_path} --help`")
            raise click.ClickException(line) from error


class Group(click.Group):
    """A group of such commands, listed in the order they were added. Alone, it shows its help."""

    command_class = Command

    def __init__(self, name: str, **settings: Any) -> None:
        super().__init__(name, **{**settings, "invoke_without_command": True})

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the subcommand that was named."""
        result = super().invoke(ctx)
        if ctx.invoked_subcommand is None:
            click.echo(ctx.get_help())
        return result

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands, the most used first."""
        return list(self.commands)


def sentence(error: BlueprintError, options: Collection[str] = (), *, otherwise: str = "") -> str:
    """`error` on one line: what must hold, what was got, what to do (`otherwise` where the error does not say)."""
    field = OPTIONS.get(error.field, "")
    field = field if field in options else in_options(error.field, options)
    if isinstance(error, OutputError):
        field = " ".join([*(option for option in _WRITERS if option in options), field])
    got = f" (got {error.got})" if error.got else ""
    next_step = in_options(error.next_step, options) or otherwise
    if next_step[:2].istitle():
        next_step = next_step[0].lower() + next_step[1:]
    line = f"{field} {in_options(error.rule, options)}{got}" + (f"; {next_step}" if next_step else "")
    return _on_one_line(line)


def in_options(text: str, options: Collection[str]) -> str:
    """`text` with the fields that `options` set replaced by their options."""

    def option(match: re.Match[str]) -> str:
        name = OPTIONS[match[1]]
        return name if name in options else match[0]

    def assigned(match: re.Match[str]) -> str:
        name = OPTIONS[match[1]]
        return f"{name} {match[2]}" if name in options else match[0]

    return _FIELD.sub(option, _ASSIGNED.sub(assigned, text))


def usage_sentence(error: click.UsageError) -> str:
    """What was typed wrong, and where to look."""
    message = error.format_message()
    if isinstance(error, (click.NoSuchOption, click.exceptions.NoSuchCommand)):
        kind, name = (
            ("option", error.option_name) if isinstance(error, click.NoSuchOption) else ("command", error.command_name)
        )
        message = f"there is no {kind} {name}"
        if error.possibilities:
            return _on_one_line(f"{message}; did you mean {' or '.join(error.possibilities)}?")
    if isinstance(error, click.BadOptionUsage):
        message = f"{error.option_name} needs a value"
    path = error.ctx.command_path if error.ctx else "blueprint-nb"
    message = message[:1].lower() + message[1:].rstrip(".")
    return _on_one_line(f"{message}; see `{path} --help`")


def _on_one_line(text: str) -> str:
    line = " ".join(_cut(word) for word in text.split())
    return line if line.endswith((".", "?", "!")) else f"{line}."


def _cut(word: str) -> str:
    """A path or a name may be as long as a file holds; its start and its end tell it apart."""
    half = LONGEST_WORD // 2
    return word if len(word) <= LONGEST_WORD else f"{word[:half]}…{word[1 - half :]}"
