"""`blueprint-nb sweep`: one step at every point of a product of mappings, batches and contexts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from ..errors import InvalidInputError, shown
from .options import NumberList, model_and_system, pricing
from .speech import Command

if TYPE_CHECKING:
    import polars as pl

Writer = Callable[["pl.DataFrame", IO[bytes]], Any]
WRITERS: dict[str, Writer] = {
    ".csv": lambda frame, file: frame.write_csv(file),
    ".parquet": lambda frame, file: frame.write_parquet(file),
}


@click.command(cls=Command, context_settings={"show_default": True})
@model_and_system
@click.option("--tp", default="1,2,4,8", type=NumberList(), help="Tensor parallelism.")
@click.option("--pp", default="1", type=NumberList(), help="Pipeline parallelism.")
@click.option("--batch", default="1,8", type=NumberList(), help="Sequences that run together on one replica.")
@click.option(
    "--context", default="1024,4096", type=NumberList(), help="Visible context; the prompt in a prefill (tokens)."
)
@click.option("--phase", default="decode", metavar="NAME", help="decode or prefill.")
@pricing
@click.option("--by-component", is_flag=True, help="A row for each component of each point.")
@click.option("--output", metavar="FILE", help="Write all columns and rows to FILE.csv or FILE.parquet instead.")
def sweep(
    model: str,
    system: str,
    tp: list[int],
    pp: list[int],
    batch: list[int],
    context: list[int],
    phase: str,
    datatype: str,
    mode: str | None,
    calibration: str | None,
    attention: str | None,
    tp_network: int,
    pp_network: int,
    by_component: bool,
    output: str | None,
) -> None:
    """Cost one step at every point of the product of the lists.

    A list is numbers and ranges: 1,2,4 or 1024:8192:1024, which is start:stop:step with the stop included. Points
    without a legal mapping are kept, with the reason.
    """
    writer = None if output is None else _writer(output)
    from ..analysis.providers import calibration_of, mode_of, pricing_in_words
    from ..catalog import load_model, load_system
    from ..front_door import sweep as swept

    spec, profile = load_model(model), load_system(system)
    mode = mode_of(profile, mode, calibration)
    priced = pricing_in_words(profile, mode, calibration_of(profile, mode, calibration))
    frame = swept(
        spec,
        profile,
        tensor_parallel=tp,
        pipeline_parallel=pp,
        batch_size=batch,
        context_tokens=context,
        phase=phase,
        datatype=datatype,
        mode=mode,
        calibration=calibration,
        attention=attention,
        tensor_parallel_network=tp_network,
        pipeline_parallel_network=pp_network,
        by_component=by_component,
    )
    if output and writer:
        _write(frame, output, writer)
        click.echo(f"{frame.height:,} rows in {output}")
    else:
        from .sweep_text import components_text, points_text
        from .tables import wrapped

        step = "" if phase == "prefill" else " step"
        head = f"{spec.name} on {profile.name} · {phase}{step} · {datatype} · {priced}"
        click.echo(wrapped(head))
        click.echo(components_text(frame) if by_component else points_text(frame, phase))
    _warn(frame, profile.memory.usable_bytes)
    if not by_component:
        _note_falls(frame, mode)


def _writer(output: str) -> Writer:
    suffix = Path(output).suffix
    if suffix.lower() not in WRITERS:
        raise InvalidInputError(
            "--output", got=shown(output), rule=f"must end in {' or '.join(WRITERS)}", next_step="Rename the file."
        )
    return WRITERS[suffix.lower()]


def _write(frame: pl.DataFrame, path: str, writer: Writer) -> None:
    from polars.exceptions import PolarsError

    from ..files import whole_file

    with whole_file(path) as file:
        try:
            writer(frame, file)
        except PolarsError as error:
            # Polars' Parquet writer wraps what the disk said.
            raise OSError(str(error)) from None


def _warn(frame: pl.DataFrame, usable_bytes: int) -> None:
    import polars as pl

    from ..units import format_gib

    points = frame.unique(["tensor_parallel", "pipeline_parallel", "batch_size", "context_tokens"])
    impossible = points.filter(~pl.col("feasible")).height
    if "fits" in points.columns and (large := points.filter(~pl.col("fits")).height):
        click.echo(
            f"Warning: {large:,} of {points.height:,} points do not fit in the {format_gib(usable_bytes)} "
            "usable per device.",
            err=True,
        )
    if impossible:
        click.echo(
            f"Warning: {impossible:,} of {points.height:,} points can't be run; the reasons are given.", err=True
        )


def _note_falls(frame: pl.DataFrame, mode: str) -> None:
    from ..analysis.falls import cause_in, falling_points

    falling = falling_points(frame)
    if falling.height:
        first = falling.row(0, named=True)
        click.echo(
            f"Note: time falls at {falling.height:,} {'point' if falling.height == 1 else 'points'} though batch or "
            f"context grows, first at TP {first['tensor_parallel']}, PP {first['pipeline_parallel']}, batch "
            f"{first['batch_size']:,}, context {first['context_tokens']:,}: {cause_in(mode)}.",
            err=True,
        )
