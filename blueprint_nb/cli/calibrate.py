"""`blueprint-nb calibrate`: fits the cost forms to measured kernels and writes parameter files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .speech import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from ..calibration.study import Study
    from ..cost.calibration import CalibrationSet
    from ..evidence.imported import Imported


@click.command(cls=Command, context_settings={"show_default": True})
@click.option("--vidur", metavar="FOLDER", help="Profiles of Vidur: its data/profiling, or a checkout.")
@click.option("--revision", default="unstated", metavar="TEXT", help="Of Vidur, to be recorded.")
@click.option("--aiconfigurator", is_flag=True, help="The tables of the installed package aiconfigurator-core.")
@click.option("--stack", default="vllm", metavar="NAME", help="Serving stack whose tables are taken: vllm or sglang.")
@click.option("--target", multiple=True, metavar="NAME", help="Only this device, as its source names it. Repeatable.")
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
    jobs: list[tuple[str, list[Study]]] = []
    host: pl.DataFrame | None = None
    if vidur is not None:
        host = _vidur_observations(vidur, revision)
        jobs.append(("vidur", vidur_studies(host)))
    if aiconfigurator:
        jobs += _aiconfigurator_jobs(stack, target if vidur is None else ())
    sets = _pooled(jobs) if pooled else _each(jobs, target)
    for one in sets if host is None or pooled else [with_host(one, host) for one in sets]:
        _write(one if name is None else one.model_copy(update={"name": name}), Path(output))


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


def _each(jobs: list[tuple[str, list[Study]]], targets: Sequence[str]) -> list[CalibrationSet]:
    from ..calibration.run import calibrate as run
    from ..calibration.run import devices_of, steps, studies_of
    from ..errors import one_of

    known = devices_of(study for _, studies in jobs for study in studies)
    wanted = [one_of("target", target, known) for target in targets] or known
    chosen = [(name, of_job) for name, studies in jobs if (of_job := studies_of(studies, wanted))]
    with click.progressbar(length=sum(steps(one) for _, one in chosen), label="Fitting", file=sys.stderr) as bar:
        return [one for name, studies in chosen for one in run(studies, name, lambda _: bar.update(1), wanted)]


def _pooled(jobs: list[tuple[str, list[Study]]]) -> list[CalibrationSet]:
    from ..calibration.pooled_set import pooled_families, pooled_set

    families = pooled_families(study for _, studies in jobs for study in studies)
    with click.progressbar(length=sum(one.steps for one in families), label="Fitting", file=sys.stderr) as bar:
        return [pooled_set(families, lambda _: bar.update(1))]


def _write(one: CalibrationSet, output: Path) -> None:
    from ..files import write_whole
    from .calibrate_text import calibration_text

    folder = output / one.systems[0] if one.systems else output
    folder.mkdir(parents=True, exist_ok=True)
    content = json.dumps(json.loads(one.to_json()), indent=1, sort_keys=True, ensure_ascii=False)
    path = write_whole(folder / f"{one.name}.json", f"{content}\n".encode())
    click.echo(calibration_text(one))
    click.echo(str(path))


def _note_skipped(imported: Imported) -> None:
    for reason, count in imported.skipped.items():
        click.echo(f"Note: {count:,} left out: {reason}", err=True)
