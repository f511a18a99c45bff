"""`blueprint-nb validate`: how far off the calibrated forms are on kernels that they never saw."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from ..text import printable, printable_json
from .options import FilledText
from .outputs import require_writable
from .progress import fitting
from .speech import Command

if TYPE_CHECKING:
    import polars as pl

    from ..calibration.validate import Validation


@click.command(cls=Command, context_settings={"show_default": True})
@click.option(
    "--vidur", type=FilledText(), metavar="FOLDER", help="Profiles of Vidur: its data/profiling, or a checkout."
)
@click.option(
    "--target",
    multiple=True,
    metavar="NAME",
    help="Only this device, as Vidur names it; its fit and bands then hear of no other. Repeatable.",
)
@click.option("--family", multiple=True, metavar="NAME", help="Only this family of kernels. Repeatable.")
@click.option("--no-trees", is_flag=True, help="Leave out the boosted trees, which need LightGBM.")
@click.option("--json", "as_json", is_flag=True, help="Print all figures as JSON instead.")
@click.option("--output", metavar="FILE", help="Write to FILE what would be printed.")
def validate(
    vidur: str | None,
    target: tuple[str, ...],
    family: tuple[str, ...],
    no_trees: bool,
    as_json: bool,
    output: str | None,
) -> None:
    """Say how far off the calibrated forms are on models and GPUs left out, beside plainer and cleverer predictors.

    With measurements the forms are fitted anew, without what is left out, which takes some minutes. Without any, the
    figures that the shipped parameter files record are printed.
    """
    if output is not None:
        require_writable(output)
    if vidur is None:
        _refuse_selection(target, family, no_trees)
        text = _recorded(as_json)
        click.echo("Note: no measurements given; these are the figures recorded in the parameter files.", err=True)
    else:
        text = _text(_validated(vidur, target, family, no_trees), as_json)
    if output is None:
        click.echo(text)
        return
    from ..files import write_whole

    click.echo(str(write_whole(output, f"{text}\n".encode())))


def _refuse_selection(target: tuple[str, ...], family: tuple[str, ...], no_trees: bool) -> None:
    given = {"--target": target, "--family": family, "--no-trees": no_trees}
    for option, value in given.items():
        if value:
            raise click.UsageError(f"{option} selects from measurements, and none are given. Name --vidur FOLDER.")


def _recorded(as_json: bool) -> str:
    from ..calibration.validate_recorded import recorded_bands, recorded_errors, recorded_octaves, recorded_sets

    sets = recorded_sets()
    if as_json:
        frames = {
            "errors": recorded_errors(sets),
            "octaves": recorded_octaves(sets),
            "bands": recorded_bands(sets),
        }
        records = {name: frame.to_dicts() for name, frame in frames.items()}
        return _json({"source": "parameter files", **records})
    from .validate_recorded_text import recorded_text

    return printable(recorded_text(sets))


def _validated(folder: str, targets: tuple[str, ...], families: tuple[str, ...], no_trees: bool) -> Validation:
    from ..calibration.bars import BARS, PLAIN_BARS
    from ..calibration.validate import steps
    from ..calibration.validate import validate as run
    from ..calibration.vidur_sets import vidur_studies
    from ..evidence.vidur import VidurProfileImporter

    observations = VidurProfileImporter(source_revision="unstated").read_folder(folder).observations
    for column, option, names in (("target", "--target", targets), ("family", "--family", families)):
        _require_known(observations, column, option, names)
    if targets:
        observations = observations.filter(observations["target"].is_in(targets))
    studies = [study for study in vidur_studies(observations) if not families or study.forms[0].name in families]
    with fitting(steps(studies)) as progress:
        return run(studies, bars=PLAIN_BARS if no_trees else BARS, progress=progress)


def _require_known(observations: pl.DataFrame, column: str, option: str, names: tuple[str, ...]) -> None:
    """Raises `UnknownNameError` with the names that the observations have."""
    from ..errors import one_of

    known = observations[column].unique().sort().to_list()
    for name in names:
        one_of(option, name, known)


def _text(validation: Validation, as_json: bool) -> str:
    if as_json:
        return _json({"source": "measurements", **validation.to_dict()})
    from .validate_text import validation_text

    return printable(validation_text(validation))


def _json(content: dict[str, object]) -> str:
    return printable_json(json.dumps(content, ensure_ascii=False))
