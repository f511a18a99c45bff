"""`blueprint-nb show`: the models and systems there are, and every figure of one."""

from __future__ import annotations

import click

from .speech import Group


@click.group(cls=Group)
def show() -> None:
    """Show the models and systems there are, and every figure of one."""


@show.command()
def models() -> None:
    """List the models."""
    from .show_text import models_text

    click.echo(models_text())


@show.command()
def systems() -> None:
    """List the systems."""
    from .show_text import systems_text

    click.echo(systems_text())


@show.command()
@click.argument("model", metavar="NAME")
def model(model: str) -> None:
    """Show a model, by name or from a TOML file."""
    from .show_text import model_text

    click.echo(model_text(model))


@show.command()
@click.argument("system", metavar="NAME")
def system(system: str) -> None:
    """Show a system's figures, each with its unit and source, by name or from a TOML file."""
    from .show_text import system_text

    click.echo(system_text(system))
