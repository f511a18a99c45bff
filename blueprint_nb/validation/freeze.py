"""Estimates that are finished before any oracle is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..analysis import PhaseEstimate, attention_of, estimate_inference_phase, lower
from ..analysis.oracle import oracles_shut
from ..analysis.vidur import Subject
from ..cost import AnalyticalProvider, modes_of
from ..ir import BoundPlan, PortablePlanIR
from ..workload import WorkloadBinding
from .case import VidurExperimentCase


@dataclass(frozen=True, eq=False)
class FrozenCase:
    """A case, its plan, and its cost in every mode its system has the figures for."""

    case: VidurExperimentCase
    subject: Subject
    estimates: Mapping[str, PhaseEstimate]
    """Mode to estimate; read-only."""
    digests: Mapping[str, str]
    """Of model, distributed plan, portable plan and bound plan, and the hardware's revision."""


@dataclass(frozen=True, eq=False)
class FrozenCases:
    """Every case of an experiment, frozen, and how often an oracle was asked meanwhile."""

    cases: tuple[FrozenCase, ...]
    oracle_reads_during_lowering: int
    oracle_reads_during_costing: int


def freeze(cases: Iterable[VidurExperimentCase]) -> FrozenCases:
    """Lowers all cases, then prices all of them, with every oracle shut.

    Raises `InvalidInputError` where a mapping can't divide its model, `UnsupportedError` where a system lacks the
    datatype.
    """
    with oracles_shut() as lowering:
        lowered = [(case, *_plan(case)) for case in cases]
    with oracles_shut() as costing:
        frozen = tuple(_priced(case, plan, digests) for case, plan, digests in lowered)
    return FrozenCases(frozen, lowering.attempts, costing.attempts)


def _plan(case: VidurExperimentCase) -> tuple[BoundPlan, dict[str, str]]:
    lowered = lower(case.model, case.mapping, case.datatype, attention_of(case.model, case.attention))
    workload: WorkloadBinding = case.phase.workload(
        batch_size=case.batch_size, context_tokens=case.context_tokens, datatype=case.datatype
    )
    plan = PortablePlanIR(template=lowered.plan, workload=workload)
    bound = lowered.implementation.bind(plan)
    digests = {
        "model": lowered.model.digest,
        "distributed": lowered.distributed.digest,
        "portable_plan": plan.digest,
        "bound_plan": bound.digest,
        "hardware_revision": case.hardware.revision,
    }
    return bound, digests


def _priced(case: VidurExperimentCase, plan: BoundPlan, digests: dict[str, str]) -> FrozenCase:
    network, hardware = case.network_binding, case.hardware
    estimates = {
        mode: estimate_inference_phase(plan, hardware, network, AnalyticalProvider(mode)) for mode in modes_of(hardware)
    }
    subject = Subject(model=case.model, mapping=case.mapping, network=network, system=hardware, plan=plan)
    return FrozenCase(case, subject, MappingProxyType(estimates), MappingProxyType(digests))
