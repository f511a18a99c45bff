"""Claims on one component, put together: what stands, and another where nothing does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import BlueprintError
from ..mapping import NetworkTierBinding
from ..system import SystemProfile
from .activity import Activity, ComponentActivity
from .bands import Band
from .block import ComponentCost, CostBlock
from .origin import Origin
from .provider import Claim, CostProvider


def merged(first: Claim | None, second: Claim) -> Claim:
    """The first where it covers a point, the second elsewhere; untouched where one of them alone counts."""
    if first is None:
        return second
    if covers_all(first):
        return first
    if not np.any(first.covers):
        return second
    return Claim(_joined(first.cost, second.cost, first.covers), np.logical_or(first.covers, second.covers))


def block_of_claims(
    provider: CostProvider,
    activity: Activity,
    system: SystemProfile,
    network: NetworkTierBinding,
    refusal: Callable[[ComponentActivity], BlueprintError],
) -> CostBlock:
    """What a provider claims of every component; raises the `refusal` of the first that it leaves open somewhere."""
    costs = []
    for component, claim in zip(activity.components, provider.claims(activity, system, network), strict=True):
        if claim is None or not covers_all(claim):
            raise refusal(component)
        costs.append(claim.cost)
    return CostBlock(activity, tuple(costs), provider=provider.name, system_revision=system.revision)


def covers_all(claim: Claim | None) -> bool:
    """Whether it covers every point."""
    return claim is not None and (claim.covers is True or bool(np.all(claim.covers)))


def _joined(first: ComponentCost, second: ComponentCost, is_first: Any) -> ComponentCost:
    def chosen(one: Any, other: Any) -> Any:
        return np.where(is_first, one, other)

    names = [*first.terms, *(name for name in second.terms if name not in first.terms)]
    band = None
    if first.band is not None and second.band is not None:
        band = Band(
            chosen(first.band.low_seconds, second.band.low_seconds),
            chosen(first.band.high_seconds, second.band.high_seconds),
        )
    # Wide enough for any number of origins: a provider's own index may be of one byte.
    indices = [np.asarray(cost.origin_index).astype(np.int64) for cost in (first, second)]
    return replace(
        first,
        **{name: chosen(times, second.times[name]) for name, times in first.times.items()},
        terms={name: chosen(first.terms.get(name, np.nan), second.terms.get(name, np.nan)) for name in names},
        band=band,
        family=first.family or second.family,
        correlation=chosen(first.correlation, second.correlation),
        origins=(*_known(first.origins), *_known(second.origins)),
        origin_index=chosen(indices[0], indices[1] + len(_known(first.origins))),
    )


def _known(origins: tuple[Origin, ...]) -> tuple[Origin, ...]:
    return origins or (Origin("", "", "", ""),)
