"""CostResolver: providers asked in order, whole blocks at a time; for each row the first that covers it wins.

    exact evidence → calibrated → system-evidence → peak-only, or whatever else the user stacks

Providers of one place in the stack are equals: where two of them cover the same row, nobody can say which is right, and
that is an error. Where one provider covers everything its figures pass through untouched, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InvalidInputError, UnsupportedError, shown
from ..mapping import NetworkTierBinding
from ..system import SystemProfile
from .activity import Activity, ComponentActivity
from .bands import Band
from .block import ComponentCost, CostBlock
from .origin import Origin
from .provider import Claim, CostProvider, require_provider

_TERMS = ("compute_seconds", "memory_seconds", "network_seconds", "seconds", "floor_seconds")


class CostResolver(CostProvider):
    """A stack of providers; an element that is a sequence holds equals. Raises `InvalidInputError`, TypeError."""

    def __init__(self, stack: Sequence[CostProvider | Sequence[CostProvider]]) -> None:
        places = [(one,) if isinstance(one, CostProvider) else tuple(one) for one in stack]
        self._places = tuple(tuple(require_provider(one) for one in place) for place in places)
        names = [provider.name for place in self._places for provider in place]
        if not names:
            raise InvalidInputError("stack", got=shown(stack), rule="must hold at least one provider")
        if twice := next((name for name in names if names.count(name) > 1), None):
            rule = "must hold each provider once: two equal claims can't be told apart"
            raise InvalidInputError("stack", got=f"{twice} twice", rule=rule)
        self.name = " → ".join(" = ".join(one.name for one in place) for place in self._places)

    @property
    def providers(self) -> tuple[CostProvider, ...]:
        """All of them, in the order they are asked."""
        return tuple(provider for place in self._places for provider in place)

    def cost(self, activity: Activity, system: SystemProfile, network: NetworkTierBinding) -> CostBlock:
        """As `resolve`."""
        return self.resolve(activity, system, network)

    def resolve(self, activity: Activity, system: SystemProfile, network: NetworkTierBinding) -> CostBlock:
        """Seconds of every component at every point, each by the first provider that covers it.

        Raises `UnsupportedError` for a component that none covers, `InvalidInputError` for equal claims, and what the
        providers raise that are asked.
        """
        found: list[ComponentCost | None] = [None] * len(activity.components)
        covered: list[Any] = [False] * len(activity.components)
        for place in self._places:
            if all(np.all(mask) for mask in covered):
                break
            claims = [(one, one.claims(activity, system, network)) for one in place]
            for index, component in enumerate(activity.components):
                claim = _of_equals(component, [(one.name, claimed[index]) for one, claimed in claims], covered[index])
                if claim is not None:
                    found[index], covered[index] = _merged(found[index], covered[index], claim)
        costs = []
        for component, cost, mask in zip(activity.components, found, covered, strict=True):
            if cost is None or not np.all(mask):
                raise UnsupportedError(
                    component.component,
                    got=component.primitive,
                    rule=f"is covered by none of {self.name}",
                    next_step="Stack a provider behind them that covers it, such as peak-only.",
                )
            costs.append(cost)
        return CostBlock(activity, tuple(costs), provider=self.name, system_revision=system.revision)

    def explanation(
        self, component: ComponentActivity, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> str:
        """Of the first provider that has one."""
        texts = (one.explanation(component, activity, system, network) for one in self.providers)
        return next((text for text in texts if text), "")


def _of_equals(component: ComponentActivity, claims: list[tuple[str, Claim | None]], done: Any) -> Claim | None:
    """The claim of one place in the stack. Raises `InvalidInputError` where two cover a row that nobody before did."""
    made = [(name, claim) for name, claim in claims if claim is not None]
    if not made:
        return None
    (first_name, merged), *others = made
    for name, claim in others:
        if np.any(np.logical_and(merged.covers, claim.covers) & ~np.asarray(done)):
            raise InvalidInputError(
                component.component,
                got=f"{first_name} and {name}",
                rule="is claimed by two providers of the same place in the stack",
                next_step="Put one of them before the other.",
            )
        cost, covers = _merged(merged.cost, merged.covers, claim)
        merged = Claim(cost, covers)
    return merged


def _merged(cost: ComponentCost | None, covered: Any, claim: Claim) -> tuple[ComponentCost, Any]:
    """What stands, with the claim where nothing does."""
    if cost is None or not np.any(covered):
        return claim.cost, claim.covers
    if np.all(covered):
        return cost, covered
    return _joined(cost, claim.cost, covered), np.logical_or(covered, claim.covers)


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
    return replace(
        first,
        **{name: chosen(getattr(first, name), getattr(second, name)) for name in _TERMS},
        terms={name: chosen(first.terms.get(name, np.nan), second.terms.get(name, np.nan)) for name in names},
        band=band,
        family=first.family or second.family,
        correlation=max(first.correlation, second.correlation),
        origins=(*_known(first.origins), *_known(second.origins)),
        origin_index=chosen(first.origin_index, np.asarray(second.origin_index) + max(len(first.origins), 1)),
    )


def _known(origins: tuple[Origin, ...]) -> tuple[Origin, ...]:
    return origins or (Origin("", "", "", ""),)
