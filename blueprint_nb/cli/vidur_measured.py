"""Options that say what was measured: profile files, and what they are of.

A file of Vidur's names neither its model nor its hardware, so that whoever gives one asserts both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, TypeVar

import click

from ..errors import InvalidInputError, shown
from .options import FilledText, Function, WholeNumber, with_options

if TYPE_CHECKING:
    from ..analysis import VidurProfileBaseline
    from ..system import SystemProfile
    from ..workload import TransformerModelSpec

BACKEND: Final = "FLASH_ATTENTION"
BLOCK_SIZE: Final = 16
UNSTATED: Final = "unstated"

Value = TypeVar("Value", str, int)


@dataclass(frozen=True, slots=True)
class Measured:
    """The options as they were given; None where they were not."""

    attention: str | None
    compute: str | None
    all_reduce: str | None
    send_recv: str | None
    measured_model: str | None
    measured_hardware: str | None
    measured_network: str | None
    backend: str | None
    block_size: int | None
    source_revision: str | None

    @property
    def has_files(self) -> bool:
        """Whether any profile was given."""
        return any(file is not None for file in (self.attention, self.compute, self.all_reduce, self.send_recv))

    @property
    def has_collectives(self) -> bool:
        """Whether any profile of a network was given."""
        return self.all_reduce is not None or self.send_recv is not None


def measured_options(function: Function) -> Function:
    """Adds an option for each field of `Measured`."""
    return with_options(
        function,
        _file("--attention", "attention kernels."),
        _file("--compute", "the other kernels of a block: mlp.csv or linear_op.csv."),
        _file("--all-reduce", "all-reduces."),
        _file("--send-recv", "sends from device to device."),
        click.option(
            "--measured-model", metavar="NAME", show_default="that of --model", help="The model the files are of."
        ),
        click.option(
            "--measured-hardware", metavar="NAME", show_default="that of --system", help="What they were timed on."
        ),
        click.option(
            "--measured-network",
            metavar="NAME",
            show_default="the hardware",
            help="The machine that --all-reduce and --send-recv were timed on.",
        ),
        click.option("--backend", metavar="NAME", show_default=BACKEND, help="Rows of --attention to look at."),
        click.option(
            "--block-size",
            type=WholeNumber(),
            show_default=str(BLOCK_SIZE),
            help="Rows of --attention to look at: tokens in a block of the KV cache.",
        ),
        click.option(
            "--source-revision",
            type=FilledText(),
            metavar="TEXT",
            show_default=UNSTATED,
            help="Where the files come from.",
        ),
    )


def measured_baseline(measured: Measured, model: TransformerModelSpec, system: SystemProfile) -> VidurProfileBaseline:
    """The files' baseline, or that of the slice that ships with the project.

    Raises `ProfileError` with file, line and column, `InvalidInputError` for an option that needs a file.
    """
    from ..analysis import VidurProfileBaseline, load_slice

    if not measured.has_files:
        _refuse_without_files(measured)
        return load_slice()
    has_attention = measured.attention is not None
    return VidurProfileBaseline.from_csv(
        attention_csv=measured.attention,
        compute_csv=measured.compute,
        all_reduce_csv=measured.all_reduce,
        send_recv_csv=measured.send_recv,
        model_name=_given(measured.measured_model, model.name),
        hardware_name=_given(measured.measured_hardware, system.name),
        network_name=measured.measured_network,
        attention_backend=_given(measured.backend, BACKEND) if has_attention else None,
        block_size=_given(measured.block_size, BLOCK_SIZE) if has_attention else None,
        source_revision=_given(measured.source_revision, UNSTATED),
    )


def assertion(measured: Measured, baseline: VidurProfileBaseline) -> str:
    """What the files do not say themselves and is taken as said; empty for the slice, whose manifest says it."""
    if not measured.has_files:
        return ""
    identity = baseline.identity
    machines = f"on {identity.hardware_name} (--measured-hardware)"
    if measured.has_collectives:
        machines += f", collectives on {identity.network_name} (--measured-network)"
    said = f"Asserted by giving the files: measured with {identity.model_name} (--measured-model) {machines}."
    if measured.attention is not None:
        rows = f"{identity.attention_backend} (--backend), blocks of {identity.block_size} tokens (--block-size)"
        said += f" Looked up: {rows}."
    return said


def _refuse_without_files(measured: Measured) -> None:
    for field in fields(measured):
        value = getattr(measured, field.name)
        if value is not None:
            raise InvalidInputError(
                f"--{field.name.replace('_', '-')}",
                got=shown(value),
                rule="is said of files, and none is given",
                next_step="Name one by --attention, --compute, --all-reduce or --send-recv.",
            )


def _given(value: Value | None, default: Value) -> Value:
    return default if value is None else value


def _file(name: str, times: str) -> Callable[[Function], Function]:
    return click.option(name, metavar="FILE", help=f"Vidur's CSV file of {times}")
