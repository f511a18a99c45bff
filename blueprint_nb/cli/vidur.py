"""`blueprint-nb vidur`: how far the components of an estimate are from kernels that were measured."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from ..errors import InvalidInputError, shown
from ..text import printable_json
from .options import NumberList, WholeNumber, model_and_system, networks
from .speech import Command
from .vidur_measured import Measured, assertion, measured_baseline, measured_options

if TYPE_CHECKING:
    from ..validation import VidurExperimentCase

MOST_CASES: Final = 10_000

_MEASURED_CONTEXTS: Final = {False: [33, 129], True: [128]}
"""Whether it is a prefill to the contexts that the slice has rows of."""

_with_defaults = partial(model_and_system, model="phi-2-dense-mha", system="a100_80g")


@click.command(cls=Command, context_settings={"show_default": True})
@measured_options
@_with_defaults
@click.option("--tp", default=1, type=WholeNumber(), help="Tensor parallelism: ranks that share each block.")
@click.option("--pp", default=1, type=WholeNumber(), help="Pipeline parallelism: stages that share the blocks.")
@click.option("--phase", default="decode", metavar="NAME", help="decode or prefill.")
@click.option("--batch", default="1", type=NumberList(), help="Sequences that run together.")
@click.option(
    "--context",
    type=NumberList(),
    show_default="33,129; 128 in a prefill",
    help="Visible context; the prompt in a prefill (tokens). A profile's kv_cache_size is one less.",
)
@networks
@click.option(
    "--calibration",
    metavar="NAME",
    show_default="vidur, or else the system's default",
    help="Parameters of the mode calibrated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON instead.")
@click.option("--html", metavar="FILE", help="Write an HTML page as well.")
def vidur(
    model: str,
    system: str,
    tp: int,
    pp: int,
    phase: str,
    batch: list[int],
    context: list[int] | None,
    tp_network: int,
    pp_network: int,
    calibration: str | None,
    as_json: bool,
    html: str | None,
    **given: Any,
) -> None:
    """Compare the components of an estimate with measured kernels.

    The files are profiles of Vidur's. Without any, what is compared with is a slice that ships with the project: Phi-2
    on an A100. Every batch is taken at every context, in each mode that the system has figures for; estimates of the
    mode calibrated come with their 90 % band, and with whether the measurement lies in it. Where the files cover
    nothing, the result is why.
    """
    if html == "-":
        raise InvalidInputError(
            "--html", got=shown(html), rule="must name a file", next_step="Name one such as vidur.html."
        )
    from ..catalog import load_model, load_system
    from ..mapping import NetworkTierBinding, TransformerInferenceMappingSpec
    from ..validation import run_vidur_experiment

    measured, spec, profile = Measured(**given), load_model(model), load_system(system)
    cases = _cases(
        batch,
        context or _MEASURED_CONTEXTS[phase == "prefill"],
        model=spec,
        hardware=profile,
        mapping=TransformerInferenceMappingSpec(tensor_parallel=tp, pipeline_parallel=pp),
        network_binding=NetworkTierBinding(tensor_parallel_network=tp_network, pipeline_parallel_network=pp_network),
        datatype="float16",
        phase=phase,
    )
    baseline = measured_baseline(measured, spec, profile)
    report = run_vidur_experiment(cases, baseline, calibration=calibration)
    if html is not None:
        from ..report import write_error_page

        write_error_page(report, html)
    if as_json:
        click.echo(printable_json(report.to_json()))
    else:
        from .vidur_text import left_out, report_text

        if missing := left_out(report):
            click.echo(f"Note: {missing}; --json prints all.", err=True)
        if not any(one.matched for one in report.comparisons):
            click.echo("Note: nothing is compared.", err=True)
        click.echo(report_text(report, assertion(measured, baseline)))
    if html is not None:
        click.echo(f"Note: {html} is written." if as_json else html, err=as_json)


def _cases(batches: list[int], contexts: list[int], **shared: Any) -> list[VidurExperimentCase]:
    """Every batch at every context, each once."""
    from ..validation import VidurExperimentCase

    batches, contexts = list(dict.fromkeys(batches)), list(dict.fromkeys(contexts))
    if len(batches) * len(contexts) > MOST_CASES:
        raise InvalidInputError(
            "--batch · --context",
            got=f"{len(batches) * len(contexts):,} cases",
            rule=f"must have at most {MOST_CASES:,} cases",
            next_step="Shorten a list.",
        )
    return [
        VidurExperimentCase(
            name=f"{shared['phase']} b{batch} c{context}",
            batch_size=batch,
            context_tokens=context,
            **shared,
        )
        for batch in batches
        for context in contexts
    ]
