"""`blueprint-nb calibrate`: fits the cost forms to measured kernels and writes parameter files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import OutputError
from .options import FilledText
from .outputs import make_folder, require_folder_named, require_plain_name, require_writable
from .progress import fitting
from .speech import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from ..calibration.study import Study
    from ..cost.calibration import CalibrationSet
    from ..evidence.imported import Imported


@dataclass(frozen=True)
class Place:
    """Where sets are written."""

    output: Path
    name: str | None
    """Of all of them, in place of their own."""

    def path(self, system: str, name: str) -> Path:
        """Of the set that is called `name`, of a system or, where that is empty, of any."""
        return self.output / system / f"{self.name or name}.json"

    def prepare(self, sets: Sequence[tuple[str, str]]) -> None:
        """Makes the folders of `sets`, each a system and a name. Raises `OutputError` where one can't be written."""
        paths = [self.path(*one) for one in sets]
        for path in paths:
            if paths.count(path) > 1:
                rule = "can't be written: it would be of two sets"
                raise OutputError(str(path), rule=rule, next_step="Leave --name out, or take one source at a time.")
        for path in paths:
            make_folder(path.parent)
            require_writable(path)


@click.command(cls=Command, context_settings={"show_default": True})
@click.option(
    "--vidur", type=FilledText(), metavar="FOLDER", help="Profiles of Vidur: its data/profiling, or a checkout."
)
@click.option("--revision", default="unstated", type=FilledText(), metavar="TEXT", help="Of Vidur, to be recorded.")
@click.option("--aiconfigurator", is_flag=True, help="The tables of the installed package aiconfigurator-core.")
@click.option("--stack", default="vllm", metavar="NAME", help="Serving stack whose tables are taken: vllm or sglang.")
@click.option(
    "--target",
    multiple=True,
    metavar="NAME",
    help="Only this device, as its source names it; its bands then hear of no other. Repeatable.",
)
@click.option("--pooled", is_flag=True, help="One set for any device, of all that is given, and none for each.")
@click.option("--name", metavar="TEXT", help="Of the sets.  [default: vidur, the stack's name and version, or pooled]")
@click.option("--output", default="calibration", metavar="FOLDER", help="Gets SYSTEM/NAME.json, or pooled.json.")
def calibrate(
    vidur: str | None,
    revision: str,
    aiconfigurator: bool,
    stack: str,
    target: tuple[str, ...],
    pooled: bool,
    name: str | None,
    output: str,
) -> None:
    """Fit the cost forms of kernels to measured times, and say how far off they are on what was left out.

    Deterministic: the same observations give the same parameters. Takes some minutes.
    """
    from ..calibration.host import with_host
    from ..calibration.vidur_sets import vidur_studies

    if vidur is None and not aiconfigurator:
        raise click.UsageError("No measurements given. Name --vidur FOLDER, --aiconfigurator, or both.")
    if pooled and target:
        raise click.UsageError("--pooled and --target exclude each other: that set is of all devices.")
    require_folder_named(output)
    if name is not None:
        require_plain_name(name, "--name")
    jobs: list[tuple[str, list[Study]]] = []
    host: pl.DataFrame | None = None
    if vidur is not None:
        host = _vidur_observations(vidur, revision)
        jobs.append(("vidur", vidur_studies(host)))
    if aiconfigurator:
        jobs += _aiconfigurator_jobs(stack, target if vidur is None else ())
    place = Place(Path(output), name)
    sets = _pooled(jobs, place) if pooled else _each(jobs, target, place)
    for one in sets if host is None or pooled else [with_host(one, host) for one in sets]:
        _write(one if name is None else one.model_copy(update={"name": name}), place)


def _vidur_observations(folder: str, revision: str) -> pl.DataFrame:
    from ..evidence.vidur import VidurProfileImporter

    imported = VidurProfileImporter(source_revision=revision).read_folder(folder)
    _note_skipped(imported)
    return imported.observations


def _aiconfigurator_jobs(stack: str, targets: Sequence[str]) -> list[tuple[str, list[Study]]]:
    from ..calibration.aiconfigurator_sets import aiconfigurator_studies, device_tables
    from ..evidence.aiconfigurator import AiconfiguratorImporter

    devices = device_tables(AiconfiguratorImporter(), stack, targets)
    return [(device.name, aiconfigurator_studies(device)) for device in devices]


def _each(jobs: list[tuple[str, list[Study]]], targets: Sequence[str], place: Place) -> list[CalibrationSet]:
    from ..calibration.run import calibrate as run
    from ..calibration.run import devices_of, steps, studies_of
    from ..errors import one_of

    known = devices_of(study for _, studies in jobs for study in studies)
    wanted = [one_of("target", target, known) for target in targets] or known
    chosen = [(name, of_job) for name, studies in jobs if (of_job := studies_of(studies, wanted))]
    place.prepare([(system, name) for name, studies in chosen for system in _systems(studies, wanted)])
    with fitting(sum(steps(one) for _, one in chosen)) as progress:
        return [one for name, studies in chosen for one in run(studies, name, progress, wanted)]


def _systems(studies: Sequence[Study], targets: Sequence[str]) -> list[str]:
    """Of the devices among `targets` that `studies` have rows of."""
    from ..calibration.observed import system_of

    devices = {device for study in studies for device in study.rows.select("source", "target").unique().iter_rows()}
    return sorted({system_of(source, target) for source, target in devices if target in targets})


def _pooled(jobs: list[tuple[str, list[Study]]], place: Place) -> list[CalibrationSet]:
    from ..calibration.pooled_families import pooled_families
    from ..calibration.pooled_set import NAME, pooled_set, steps

    families = pooled_families(study for _, studies in jobs for study in studies)
    place.prepare([("", NAME)])
    with fitting(sum(steps(one) for one in families)) as progress:
        return [pooled_set(families, progress)]


def _write(one: CalibrationSet, place: Place) -> None:
    from ..files import write_whole
    from .calibrate_text import calibration_text

    content = json.dumps(json.loads(one.to_json()), indent=1, sort_keys=True, ensure_ascii=False)
    path = write_whole(place.path(one.systems[0] if one.systems else "", one.name), f"{content}\n".encode())
    click.echo(calibration_text(one))
    click.echo(str(path))


def _note_skipped(imported: Imported) -> None:
    for reason, count in imported.skipped.items():
        click.echo(f"Note: {count:,} left out: {reason}", err=True)
