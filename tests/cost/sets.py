"""Small calibration sets, activities and made-up providers that the tests of costs share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from architectures import decoder, planned

import blueprint_nb as bp
from blueprint_nb.analysis.lowering import lower
from blueprint_nb.analysis.points import phase_statistics
from blueprint_nb.cost import (
    Activity,
    Band,
    CalibrationSet,
    Claim,
    ComponentCost,
    CostBlock,
    CostProvider,
    Origin,
    plan_activity,
    template_activity,
)
from blueprint_nb.cost.calibration import ErrorFigures, FamilyFit, OctaveResiduals
from blueprint_nb.cost.families import Family, Machine, form_of, link_of
from blueprint_nb.mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from blueprint_nb.system import SystemProfile
from blueprint_nb.workload import InferencePhase, TransformerModelSpec, WorkloadBinding

A100 = bp.load_system("a100_80g_pcie")
NETWORK = NetworkTierBinding()
ERRORS = ErrorFigures(rows=7, mape_percent=5, balanced_mape_percent=5, p90_percent=9, max_percent=20)

COVERED = ("gemm", "rms_norm", "layer_norm", "gated_activation", "activation", "rope", "add", "embedding")
KERNELS = {"attention_decode": "flash_attention_2_kvcache", "attention_prefill": "flash_attention_2_kvcache"}
COLLECTIVES = ("all_reduce", "all_gather", "point_to_point")


def residuals(reach: float = 0.2, first: int = 0, last: int = 20) -> tuple[OctaveResiduals, ...]:
    """The same reach at the start of each octave."""
    return tuple(
        OctaveResiduals(octave=one, rows=9, size=2**one, middle=0.0, reach=reach) for one in range(first, last + 1)
    )


def fit_of(name: str, **changes: Any) -> FamilyFit:
    """A family's form at its starts, seen everywhere."""
    form = form_named(name)
    base = {
        "values": {one.name: one.start for one in form.parameters},
        "kernel": KERNELS.get(name, ""),
        "link": link_of(A100.network[0]) if name in COLLECTIVES else None,
        "ranges": dict.fromkeys(form.dimensions, (1, 10**12)),
        "datatypes": ("float16",),
        "observations_digest": "made for a test",
        "in_sample": ERRORS,
        "residuals": residuals(),
        "correlation": 0.5,
    }
    return FamilyFit(**{**base, **changes})


def form_named(name: str) -> Family:
    link = link_of(A100.network[0]) if name in COLLECTIVES else None
    return form_of(name, kernel=KERNELS.get(name, ""), link=link)


def set_of(*names: str, families: Mapping[str, FamilyFit] | None = None, **changes: Any) -> CalibrationSet:
    """A set that prices `names`, each at its starts, or `families`; those of a whole model where none is given."""
    names = names or (() if families else (*COVERED, *KERNELS, *COLLECTIVES))
    base = {
        "name": "made-up",
        "target": "a100",
        "systems": (A100.name,),
        "source": "vidur",
        "source_revision": "made for a test",
        "software": "vidur",
        "software_version": "",
        "machine": None,
        "seed": 1,
        "optimiser": "none",
        "families": {**{name: fit_of(name) for name in names}, **(families or {})},
    }
    return CalibrationSet(**{**base, **changes})


def step(ranks: int = 1, model: TransformerModelSpec | None = None, datatype: str = "float16") -> Activity:
    """One decode step of two sequences at a context of 100."""
    workload = WorkloadBinding.decode(batch_size=2, context_tokens=100, datatype=datatype)
    return plan_activity(planned(model or decoder(), workload, tensor_parallel=ranks).bound)


def grid(
    batch: Any, context: Any, model: TransformerModelSpec | None = None, ranks: int = 1, phase: str = "decode"
) -> Activity:
    """Steps of every batch and context: arrays of shape (batch, context)."""
    mapping = TransformerInferenceMappingSpec(tensor_parallel=ranks)
    template = lower(model or decoder(), mapping, "float16", "flash").bound
    rows, columns = np.array(batch, dtype=np.int64)[:, None], np.array(context, dtype=np.int64)[None, :]
    return template_activity(template, phase_statistics(template, InferencePhase(phase), rows, columns))


def machine() -> Machine:
    return Machine(
        compute_units=108, matrix_flops=312e12, bytes_per_second=1.935e12, l2_bytes=40 * 2**20, element_bytes=2
    )


@dataclass
class MadeUp(CostProvider):
    """Says `seconds` of the components that it covers, at the points it covers; counts how often it is asked."""

    name: str
    seconds: float
    covers: Mapping[str, Any] | Callable[[str], Any] = field(default_factory=lambda: lambda _: True)
    band: bool = True
    asked: int = 0

    def claims(
        self, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> tuple[Claim | None, ...]:
        self.asked += 1
        return tuple(self._claim(one.component, np.shape(one.operations)) for one in activity.components)

    def cost(self, activity: Activity, system: SystemProfile, network: NetworkTierBinding) -> CostBlock:
        costs = tuple(claim.cost for claim in self.claims(activity, system, network) if claim is not None)
        return CostBlock(activity, costs, provider=self.name, system_revision=system.revision)

    def _claim(self, component: str, shape: tuple[int, ...]) -> Claim | None:
        covers = self.covers(component) if callable(self.covers) else self.covers.get(component, False)
        if not np.any(covers):
            return None
        seconds = np.full(np.broadcast_shapes(shape, np.shape(covers)), self.seconds)
        cost = ComponentCost(
            seconds,
            np.zeros_like(seconds),
            np.zeros_like(seconds),
            seconds,
            terms={self.name: seconds},
            band=Band(seconds * 0.9, seconds * 1.2) if self.band else None,
            family="made-up",
            correlation=0.5,
            origins=(Origin(self.name, "1", "made-up", "formula"),),
        )
        return Claim(cost, covers)
