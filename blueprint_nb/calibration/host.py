"""Fitting the host's time of a step to Vidur's `cpu_overheads.csv`.

A step of the host is scheduling, preparing inputs, sampling, processing outputs and talking to the workers. Not added:
`model_execution`, which is the devices' own time, and the launches, which are inside the spans from end to end.
Sampling also multiplies by the LM head, which the file does not tell apart. One model after the other is held out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..catalog import load_system
from ..cost.calibration import CalibrationSet, FamilyFit
from ..cost.families import form_of, machine_of
from ..cost.octaves import octave_of
from ..errors import InvalidInputError
from ..evidence import ELEMENT_BYTES
from .errors import Judged, error_figures
from .fit import fit
from .fitting import rounded
from .observed import system_of
from .residuals import HeldOutResiduals, held_out_residuals
from .sample import Sample
from .study import digest, ranges

if TYPE_CHECKING:
    import polars as pl

__all__ = ["HOST_OPERATIONS", "HOST_SPLIT", "host_fit", "host_steps", "with_host"]

HOST_OPERATIONS: Final = (
    "schedule",
    "prepare_inputs_e2e",
    "sampler_e2e",
    "process_model_outputs",
    "ray_comm_time_mean",
)
"""That follow each other in a step, as the observations name them: of two nested spans the outer one."""

HOST_SPLIT: Final = "leave-one-model-out"

_FORM: Final = form_of("host")


def host_steps(observations: pl.DataFrame) -> pl.DataFrame:
    """A row for each line of the file that has all operations: target, source, model, batch, ranks and seconds of the
    whole step, sorted. Raises `InvalidInputError` where there is none.
    """
    import polars as pl

    keys = ["target", "source", "model", "batch", "tensor_parallel", "record"]
    operations = observations.filter((pl.col("family") == "host") & pl.col("component").is_in(HOST_OPERATIONS))
    steps = operations.group_by(keys).agg(pl.col("seconds").sum(), pl.len().alias("operations"))
    whole = steps.filter(pl.col("operations") == len(HOST_OPERATIONS)).rename({"tensor_parallel": "ranks"})
    if not len(whole):
        rule = f"must hold a step of the host with {', '.join(HOST_OPERATIONS)}"
        raise InvalidInputError("observations", got="none", rule=rule)
    return whole.drop("operations").sort("target", "model", "ranks", "batch", "record")


def host_fit(observations: pl.DataFrame) -> FamilyFit:
    """The fit for the key `host` of a calibration set, of the observations of one device and source.

    Raises `InvalidInputError` for none and for those of several devices, `MissingExtraError` without scipy.
    """
    import polars as pl

    steps = host_steps(observations)
    targets = steps.select("target", "source").unique().rows()
    if len(targets) > 1:
        names = ", ".join(sorted(target for target, _ in targets))
        raise InvalidInputError("observations", got=names, rule="must be of one device")
    everything = _sample(steps)
    values = _values(everything)
    judged = []
    for number, model in enumerate(steps["model"].unique().sort().to_list()):
        is_out = pl.col("model") == model
        rest = steps.filter(~is_out)
        if len(rest):
            judged.append(Judged.of(_FORM, [_sample(steps.filter(is_out))], _values(_sample(rest)), number))
    seen = Judged.of(_FORM, [everything], values)
    unseen = Judged.joined(judged) if judged else None
    residuals = HeldOutResiduals() if unseen is None else held_out_residuals(unseen, seen)
    return FamilyFit(
        values=values,
        ranges=ranges([everything], _FORM),
        datatypes=tuple(sorted(ELEMENT_BYTES)),
        observations_digest=digest(observations.filter(pl.col("family") == "host")),
        in_sample=error_figures(seen),
        held_out={} if unseen is None else {HOST_SPLIT: error_figures(unseen)},
        **residuals.fields,
    )


def with_host(one: CalibrationSet, observations: pl.DataFrame) -> CalibrationSet:
    """`one` with the host's family, where the host of its device was timed."""
    own = observations.filter((observations["family"] == "host") & (observations["target"] == one.target))
    return one.model_copy(update={"families": {**one.families, "host": host_fit(own)}}) if len(own) else one


def _values(sample: Sample) -> dict[str, float]:
    return {name: rounded(value) for name, value in fit(_FORM, [sample]).values.items()}


def _sample(steps: pl.DataFrame) -> Sample:
    """Of each batch, one rank and several count the same."""
    first = steps.row(0, named=True)
    batch, ranks = (steps[name].to_numpy() for name in ("batch", "ranks"))
    machine = machine_of(load_system(system_of(first["source"], first["target"])), "float16")
    group = (ranks > 1).astype(np.int64)
    return Sample(machine, {"batch": batch, "ranks": ranks}, steps["seconds"].to_numpy(), group, octave_of(batch))
