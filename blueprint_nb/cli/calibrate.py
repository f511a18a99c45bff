"""`blueprint-nb calibrate`: fits the cost forms to measured kernels and writes a parameter file for each device."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from .speech import Command


@click.command(cls=Command, context_settings={"show_default": True})
@click.option("--vidur", required=True, metavar="FOLDER", help="Profiles of Vidur: its data/profiling, or a checkout.")
@click.option("--revision", default="unstated", metavar="TEXT", help="Of Vidur, to be recorded.")
@click.option("--name", default="vidur", metavar="TEXT", help="Of the calibration.")
@click.option(
    "--output", default="calibration", metavar="FOLDER", help="Gets a file for each device: SYSTEM/NAME.json."
)
def calibrate(vidur: str, revision: str, name: str, output: str) -> None:
    """Fit the cost forms of kernels to measured times, and say how far off they are on models left out.

    Deterministic: the same observations give the same parameters. Takes some minutes.
    """
    from ..calibration.run import FAMILIES, steps
    from ..calibration.run import calibrate as run
    from ..evidence.vidur import VidurProfileImporter
    from ..files import write_whole
    from .calibrate_text import calibration_text

    imported = VidurProfileImporter(source_revision=revision).read_folder(vidur)
    observations = imported.observations
    with click.progressbar(length=steps(observations, FAMILIES), label="Fitting", file=sys.stderr) as bar:
        sets = run(observations, FAMILIES, name, lambda _: bar.update(1))
    for one in sets:
        folder = Path(output) / one.systems[0]
        folder.mkdir(parents=True, exist_ok=True)
        content = json.dumps(json.loads(one.to_json()), indent=1, sort_keys=True, ensure_ascii=False)
        path = write_whole(folder / f"{name}.json", f"{content}\n".encode())
        click.echo(calibration_text(one))
        click.echo(str(path))
    for reason, count in imported.skipped.items():
        click.echo(f"Note: {count:,} left out: {reason}", err=True)
