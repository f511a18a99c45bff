"""`blueprint-nb report`: the main job without a browser."""

from __future__ import annotations

import click

from ..errors import InvalidInputError, shown
from .options import WholeNumber, model_and_system, pricing
from .speech import Command
from .tables import filled


@click.command(cls=Command, context_settings={"show_default": True})
@model_and_system
@click.option("--tp", default=1, type=WholeNumber(), help="Tensor parallelism: ranks that share each block.")
@click.option("--pp", default=1, type=WholeNumber(), help="Pipeline parallelism: stages that share the blocks.")
@click.option("--replicas", default=1, type=WholeNumber(), help="Copies of it all.")
@click.option("--batch", default=1, type=WholeNumber(), help="Sequences that run together on one replica.")
@click.option("--prompt", default=1024, type=WholeNumber(), help="Tokens of each prompt.")
@click.option("--generated", default=128, type=WholeNumber(), help="Tokens made for each sequence.")
@pricing
@click.option("--output", default="report.html", metavar="FILE", help="The HTML file to write.")
def report(
    model: str,
    system: str,
    tp: int,
    pp: int,
    replicas: int,
    batch: int,
    prompt: int,
    generated: int,
    datatype: str,
    mode: str | None,
    calibration: str | None,
    attention: str | None,
    tp_network: int,
    pp_network: int,
    output: str,
) -> None:
    """Write a self-contained HTML report on one request; print its verdict, mode and path.

    A request is one prefill of the prompt and a decode step for each further token.
    """
    if output == "-":
        raise InvalidInputError(
            "--output",
            got=shown(output),
            rule="must name a file",
            next_step="Name one such as report.html: reports are not written to standard output.",
        )
    from ..analysis import cautions
    from ..front_door import estimate

    asked = estimate(
        model,
        system,
        tensor_parallel=tp,
        pipeline_parallel=pp,
        replicas=replicas,
        batch_size=batch,
        prompt_tokens=prompt,
        generated_tokens=generated,
        datatype=datatype,
        mode=mode,
        calibration=calibration,
        attention=attention,
        tensor_parallel_network=tp_network,
        pipeline_parallel_network=pp_network,
    )
    path = asked.report(output)
    verdict = asked.verdict
    click.echo(filled(verdict.parts if verdict.basis else (*verdict.parts, asked.inputs.mode)))
    click.echo(str(path))
    for caution in cautions(asked):
        click.echo(f"Note: {caution}", err=True)
    if not verdict.fits:
        click.echo(f"Warning: it does not fit: {verdict.memory}; {verdict.fix}.", err=True)
