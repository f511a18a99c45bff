"""`calibrated`: seconds from the fitted forms of kernel families, with their terms and the band they lie in.

A component becomes a kernel and a shape (`kernels`), a family's form and parameters give its time (`families`), its
residuals the band (`expected_error`). A family that nobody measured takes the parameters of one that works alike, and
says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np

from ..errors import UnsupportedError
from ..mapping import NetworkTierBinding
from ..system import NetworkTier, SystemProfile
from ..workload import element_bytes
from .activity import Activity, ComponentActivity
from .analytical import carrying_tier
from .bands import Band
from .block import ComponentCost, CostBlock
from .calibration import CalibrationSet, FamilyFit
from .chosen_fit import chosen_fit, was_observed
from .claims import block_of_claims, merged
from .cold_cache import reaching_memory
from .evaluation import kernel_times
from .expected_error import Spread, doublings_outside, outside_dimensions, spread_of
from .families import AttentionDecode, Family, Link, Machine, form_of, link_of, machine_of
from .kernels import Kernel, kernels_of
from .origin import Origin
from .peak_floor import seconds_at_peak
from .provider import Claim, CostProvider
from .remembered import Remembered, shape_key

_APPENDED: Final = "kv_save"
"""Sources time attention with the KV of the new tokens being written to the cache, and no kernel that does it alone."""

_LATEST: Final = Remembered()
"""What all providers worked out."""


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A kernel with the form and parameters that time it."""

    kernel: Kernel
    family: Family
    fit: FamilyFit
    key: str
    """Of the fit, among the families of the set."""
    link: Link | None
    borrowed_from: str


@dataclass(frozen=True)
class CalibratedProvider(CostProvider):
    """Prices with one calibration set; `machine` stands in for a set that has none of its own."""

    calibration: CalibrationSet
    machine: Machine | None = None
    name: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"calibrated:{self.calibration.name}")

    def cost(self, activity: Activity, system: SystemProfile, network: NetworkTierBinding) -> CostBlock:
        """Seconds of every component. Raises `UnsupportedError`, naming the family that the set lacks."""
        return block_of_claims(self, activity, system, network, self._refusal)

    def _refusal(self, component: ComponentActivity) -> UnsupportedError:
        rule, next_step = (
            f"is not covered by the calibration {self.calibration.name}",
            "Stack another provider behind it, such as the pooled calibration.",
        )
        return UnsupportedError(component.component, got=component.primitive, rule=rule, next_step=next_step)

    def claims(
        self, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> tuple[Claim | None, ...]:
        """A claim on each component whose family the set has. Raises `UnsupportedError` where the system lacks a
        figure.
        """
        return tuple(self._claim(component, activity, system, network) for component in activity.components)

    def explanation(
        self, component: ComponentActivity, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> str:
        """ "128 CTAs on 108 SMs: 2 waves, 59 % full; memory 31 µs; floor 2.1 µs"."""
        for kernel in kernels_of(component, activity.statistics):
            fitted = self._fitted(kernel, _tier(component, system, network), activity.datatype, system)
            if fitted is not None and np.all(kernel.covers):
                shape = {name: int(np.max(kernel.shape[name])) for name in fitted.family.dimensions}
                return fitted.family.explain(
                    shape, self._machine(fitted.fit, system, activity.datatype), fitted.fit.values
                )
        return ""

    def kernel_cost(self, kernel: Kernel, datatype: str, system: SystemProfile) -> ComponentCost | None:
        """Of a kernel that is no collective; None where the set lacks its family. Raises as `claims`."""
        fitted = self._fitted(kernel, None, datatype, system)
        return None if fitted is None else self._cost(fitted, self._machine(fitted.fit, system, datatype), datatype)

    def peak_seconds(self, kernel: Kernel, datatype: str, system: SystemProfile) -> Any | None:
        """What it can't go below, of a kernel of the set that is no collective; None where nothing bounds it."""
        fitted = self._fitted(kernel, None, datatype, system)
        if fitted is None:
            return None
        return seconds_at_peak(kernel.family, kernel.shape, self._machine(fitted.fit, system, datatype))

    def _claim(
        self, component: ComponentActivity, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> Claim | None:
        if component.collective is not None and component.ranks < 2:
            return Claim(_nothing(component, self._origin("no other rank", 0)))
        found: Claim | None = None
        for kernel in kernels_of(component, activity.statistics):
            if kernel.family == _APPENDED and _APPENDED not in self.calibration.families:
                return Claim(_nothing(component, self._origin("within attention, whose measured calls append", 0)))
            fitted = self._fitted(kernel, _tier(component, system, network), activity.datatype, system)
            if fitted is not None:
                machine = self._machine(fitted.fit, system, activity.datatype)
                found = _quicker(found, Claim(self._cost(fitted, machine, activity.datatype), kernel.covers))
        return found

    def _fitted(self, kernel: Kernel, tier: NetworkTier | None, datatype: str, system: SystemProfile) -> _Fitted | None:
        chosen = chosen_fit(self.calibration, kernel.family, datatype, tier, system)
        if chosen is None:
            return None
        fit = chosen.fit
        link: Link | None = None if tier is None else fit.link or link_of(tier)
        form = form_of(kernel.family, kernel=fit.kernel, link=link, own_bytes=fit.own_bytes)
        return _Fitted(kernel, form, fit, chosen.key, link, chosen.borrowed_from)

    def _machine(self, fit: FamilyFit, system: SystemProfile, datatype: str) -> Machine:
        """The figures that a family was fitted with, where they are of elements as long."""
        known = (fit.machine, self.calibration.machine, self.machine)
        of_length = (one for one in known if one is not None and one.element_bytes == element_bytes(datatype))
        return next(of_length, None) or machine_of(system, datatype)

    @cached_property
    def _spreads(self) -> dict[str, Spread | None]:
        """Of all families, by their keys."""
        return {key: spread_of(fit.residuals) for key, fit in self.calibration.families.items()}

    def _cost(self, fitted: _Fitted, machine: Machine, datatype: str) -> ComponentCost:
        """As priced before, where everything that decides it is the same."""
        kernel = fitted.kernel
        shape = shape_key(kernel.shape)
        if shape is None:
            return self._priced(fitted, machine, datatype)
        key = (self.calibration.digest, fitted.key, kernel.family, fitted.link, machine, datatype, shape)
        found = _LATEST.get(key)
        if found is None:
            found = self._priced(fitted, machine, datatype)
            _LATEST.keep(key, found)
        return found

    def _priced(self, fitted: _Fitted, machine: Machine, datatype: str) -> ComponentCost:
        kernel, fit, family = fitted.kernel, fitted.fit, fitted.family
        time = kernel_times(family, kernel.shape, machine, fit.values)
        by_bound = _by_bound(family, time.terms)
        is_observed = was_observed(fit, datatype)
        origin_index, outside = outside_dimensions(fit, kernel.shape)
        doublings = doublings_outside(fit.ranges, kernel.shape) if any(outside) else 0.0
        seconds, terms = time.seconds, time.terms
        peak = seconds_at_peak(kernel.family, kernel.shape, machine)
        if peak is not None and (seconds < peak).any():
            seconds, terms = np.maximum(seconds, peak), {**terms, "peak": np.broadcast_to(peak, np.shape(seconds))}
        band: Band | None = None
        if (spread := self._spreads[fitted.key]) is not None:
            doublings = doublings + (0.0 if is_observed else 1.0)
            size = kernel.shape[family.size]
            band = spread.band(size, seconds, doublings, borrowed=bool(fitted.borrowed_from))
            if isinstance(family, AttentionDecode):
                band = reaching_memory(band, kernel, fit, machine)
        return ComponentCost(
            compute_seconds=by_bound["compute"],
            memory_seconds=by_bound["memory"],
            network_seconds=by_bound["network"],
            seconds=seconds,
            floor_seconds=by_bound["floor"],
            terms=terms,
            band=band,
            family=kernel.family,
            correlation=fit.correlation,
            origins=self._origins(fitted, outside, () if is_observed else (datatype,)),
            origin_index=origin_index,
        )

    def _origins(
        self, fitted: _Fitted, outside: tuple[tuple[str, ...], ...], unseen: tuple[str, ...]
    ) -> tuple[Origin, ...]:
        """One for each combination of dimensions `outside` the range that was observed; a datatype `unseen` is, too."""
        borrowed = f"borrowed from {fitted.borrowed_from}, " if fitted.borrowed_from else ""
        beyond = [", ".join((*names, *unseen)) for names in outside]
        matches = (f"{borrowed}outside range: {names}" if names else f"{borrowed}in range" for names in beyond)
        return tuple(self._origin(match, fitted.fit.in_sample.rows) for match in matches)

    def _origin(self, match: str, samples: int) -> Origin:
        return Origin(self.name, self.calibration.revision, "calibrated", match, samples=samples)


def _tier(component: ComponentActivity, system: SystemProfile, network: NetworkTierBinding) -> NetworkTier | None:
    return None if component.collective is None else carrying_tier(component, system, network)


def _quicker(first: Claim | None, second: Claim) -> Claim:
    """Both together, and the quicker one where both cover a point."""
    if first is None:
        return second
    yields = np.logical_and(first.covers, second.covers) & (second.cost.seconds < first.cost.seconds)
    return merged(Claim(first.cost, np.logical_and(first.covers, ~yields)), second)


def _by_bound(family: Family, terms: Mapping[str, Any]) -> dict[str, Any]:
    """Floors added up, and the largest term of each other kind; 0 where a form has none."""
    found: dict[str, Any] = dict.fromkeys(("floor", "compute", "memory", "network"), 0.0)
    for name, bound in family.bounds.items():
        if name in terms:
            found[bound] = found[bound] + terms[name] if bound == "floor" else np.maximum(found[bound], terms[name])
    return found


def _nothing(component: ComponentActivity, origin: Origin) -> ComponentCost:
    """Of a collective that has nobody to talk to, or of work that another component's kernel does."""
    none = np.zeros_like(np.asarray(component.message_bytes, dtype=np.float64))
    band = Band(none, none)
    return ComponentCost(none, none, none, none, band=band, family=component.collective or "", origins=(origin,))
