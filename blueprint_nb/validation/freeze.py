"""Estimates that are finished before any oracle is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..analysis import PhaseEstimate, attention_of, lower
from ..analysis.oracle import ReadCount, oracles_shut
from ..analysis.phase import price
from ..analysis.vidur import Subject
from ..cost import CalibrationSet, plan_activity
from ..ir import BoundPlan, PortablePlanIR
from ..workload import WorkloadBinding
from .batched import estimate_plans, kernels_run
from .case import VidurExperimentCase
from .pricing import CALIBRATED, Pricing

Lowering = tuple[VidurExperimentCase, BoundPlan, "CaseDigests"]


@dataclass(frozen=True, slots=True)
class CaseDigests:
    """What identifies a case's IRs and machine."""

    model: str
    distributed: str
    portable_plan: str
    bound_plan: str
    hardware_revision: str


@dataclass(frozen=True, eq=False)
class FrozenCase:
    """A case, its plan, and its cost in every mode its system has the figures for."""

    case: VidurExperimentCase
    subject: Subject
    priced: tuple[tuple[str, PhaseEstimate], ...]
    """(Mode, estimate)."""
    calibrations: tuple[CalibrationSet, ...]
    """Those that the mode `calibrated` could price with, first to last; none where it is not priced."""
    digests: CaseDigests

    @property
    def estimates(self) -> Mapping[str, PhaseEstimate]:
        """Mode to estimate; read-only."""
        return MappingProxyType(dict(self.priced))


@dataclass(frozen=True, eq=False)
class FrozenCases:
    """Every case of an experiment, frozen, and how often the oracle was read meanwhile."""

    cases: tuple[FrozenCase, ...]
    oracle_reads_during_lowering: int
    oracle_reads_during_costing: int


def freeze(
    cases: Sequence[VidurExperimentCase],
    count: ReadCount,
    modes: Sequence[str] | None = None,
    calibration: str | None = None,
) -> FrozenCases:
    """Lowers all cases, then prices all of them, with every oracle shut; `count` is that of the oracle to come.

    `modes` and `calibration` are as of `run_vidur_experiment`. Raises `InvalidInputError` where a mapping can't divide
    its model, `UnsupportedError` where a system lacks the datatype, `OracleError` where either asks an oracle, and as
    `Pricing.of`.
    """
    before = count.reads
    with oracles_shut():
        lowered = [(case, *_plan(case)) for case in cases]
    between = count.reads
    with oracles_shut():
        systems = {_key(case, digests): case.hardware for case, _, digests in lowered}
        pricings = {key: Pricing.of(system, modes, calibration) for key, system in systems.items()}
        frozen = tuple(_priced(lowered, pricings))
    return FrozenCases(frozen, between - before, count.reads - between)


def _key(case: VidurExperimentCase, digests: CaseDigests) -> tuple[str, str]:
    """Parameters go by a system's name, and by its figures."""
    return case.hardware.name, digests.hardware_revision


def _plan(case: VidurExperimentCase) -> tuple[BoundPlan, CaseDigests]:
    lowered = lower(case.model, case.mapping, case.datatype, attention_of(case.model, case.attention))
    workload: WorkloadBinding = case.phase.workload(
        batch_size=case.batch_size, context_tokens=case.context_tokens, datatype=case.datatype
    )
    plan = PortablePlanIR(template=lowered.plan, workload=workload)
    bound = lowered.implementation.bind(plan)
    return bound, CaseDigests(
        model=lowered.model.digest,
        distributed=lowered.distributed.digest,
        portable_plan=plan.digest,
        bound_plan=bound.digest,
        hardware_revision=case.hardware.revision,
    )


def _priced(lowered: Sequence[Lowering], pricings: Mapping[tuple[str, str], Pricing]) -> list[FrozenCase]:
    """Every case in its modes; those of one template together, where a provider is quicker so."""
    together: dict[Any, list[int]] = {}
    for index, (case, plan, digests) in enumerate(lowered):
        key = (digests.distributed, plan.template.digest, _key(case, digests), case.network_binding)
        together.setdefault((*key, kernels_run(plan)), []).append(index)
    calibrated: dict[int, PhaseEstimate] = {}
    for indices in together.values():
        case, _, digests = lowered[indices[0]]
        provider = dict(pricings[_key(case, digests)].providers).get(CALIBRATED)
        if provider is not None:
            plans = [lowered[index][1] for index in indices]
            made = estimate_plans(plans, case.hardware, case.network_binding, provider)
            calibrated.update(zip(indices, made, strict=True))
    return [
        _frozen(case, plan, digests, pricings[_key(case, digests)], calibrated.get(index))
        for index, (case, plan, digests) in enumerate(lowered)
    ]


def _frozen(
    case: VidurExperimentCase, plan: BoundPlan, digests: CaseDigests, pricing: Pricing, calibrated: PhaseEstimate | None
) -> FrozenCase:
    network, hardware = case.network_binding, case.hardware
    activity = plan_activity(plan) if calibrated is None else calibrated.costs.activity
    priced = tuple(
        (mode, calibrated)
        if mode == CALIBRATED and calibrated is not None
        else (mode, PhaseEstimate(plan, price(provider, activity, hardware, network)))
        for mode, provider in pricing.providers
    )
    subject = Subject(model=case.model, mapping=case.mapping, network=network, system=hardware, plan=plan)
    return FrozenCase(case, subject, priced, pricing.calibrations, digests)
