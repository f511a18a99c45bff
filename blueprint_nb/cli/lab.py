"""`blueprint-nb lab`: the notebooks that ship with the project, in JupyterLab."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from ..errors import MissingExtraError, OutputError
from ..files import write_whole
from .speech import Command

DEFAULT_FOLDER = "blueprint-notebooks"


@click.command(cls=Command)
@click.argument("arguments", metavar="[FOLDER] [-- JUPYTER_OPTIONS]", nargs=-1, type=click.UNPROCESSED)
def lab(arguments: tuple[str, ...]) -> None:
    """Copy the notebooks into FOLDER and open JupyterLab on the first.

    FOLDER is blueprint-notebooks where none is named. Notebooks that are there already are kept as they are. What
    follows -- goes to JupyterLab: blueprint-nb lab -- --no-browser.
    """
    folder, options = _split(arguments)
    if find_spec("jupyterlab") is None:
        raise MissingExtraError(
            "blueprint-nb lab", rule="needs JupyterLab", next_step="Run `pip install 'blueprint-nb[notebook]'`."
        )
    copied = copy_notebooks(folder)
    click.echo(f"{copied[0]}")
    # The address that JupyterLab prints then opens the notebook too, where no browser starts by itself.
    place = [f"--ServerApp.root_dir={folder.resolve()}", f"--LabApp.default_url=/lab/tree/{copied[0].name}"]
    raise click.exceptions.Exit(_run([sys.executable, "-m", "jupyterlab", *options, *place]))


def notebooks_folder() -> Path:
    """The checkout's `notebooks/` where there is one, else the copy that ships in the wheel."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parent / "notebooks"
    return checkout if checkout.is_dir() else package / "notebooks"


def copy_notebooks(folder: Path) -> list[Path]:
    """Copies each notebook that `folder` lacks; returns them all, the first first. Raises `OutputError`."""
    originals = sorted(notebooks_folder().glob("*.ipynb"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        rule = f"can't be made: {(error.strerror or str(error)).lower()}"
        raise OutputError(str(folder), rule=rule, next_step="Name another folder.") from None
    for original in originals:
        copy = folder / original.name
        if copy.exists():
            click.echo(f"Note: {copy} was there already and is kept as it is.", err=True)
        else:
            write_whole(copy, original.read_bytes())
    return [folder / original.name for original in originals]


def _split(arguments: tuple[str, ...]) -> tuple[Path, tuple[str, ...]]:
    if arguments and not arguments[0].startswith("-"):
        return Path(arguments[0]), arguments[1:]
    return Path(DEFAULT_FOLDER), arguments


def _run(command: list[str]) -> int:
    """Runs JupyterLab until it ends; returns its exit status."""
    with subprocess.Popen(command) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                # JupyterLab has it too, and asks whether it is meant.
                continue
            except SystemExit:
                process.terminate()
                raise
