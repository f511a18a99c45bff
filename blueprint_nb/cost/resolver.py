"""CostResolver: providers asked in order, whole blocks at a time; for each row the first that covers it wins.

    exact evidence → learned residual → calibrated → system-evidence → peak-only, or whatever else the user stacks

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
from .block import CostBlock
from .claims import block_of_claims, covers_all, merged
from .provider import Claim, CostProvider, require_provider


class CostResolver(CostProvider):
    """A stack of providers; an element that is a sequence holds equals. Raises `InvalidInputError`, TypeError."""

    def __init__(self, stack: Sequence[CostProvider | Sequence[CostProvider]]) -> None:
        places = [tuple(one) if isinstance(one, (list, tuple)) else (one,) for one in stack]
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
        return block_of_claims(self, activity, system, network, self._refusal)

    def _refusal(self, component: ComponentActivity) -> UnsupportedError:
        rule, next_step = (
            f"is covered by none of {self.name}",
            "Stack a provider behind them that covers it, such as peak-only.",
        )
        return UnsupportedError(component.component, got=component.primitive, rule=rule, next_step=next_step)

    def claims(
        self, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> tuple[Claim | None, ...]:
        """For each component what the first providers say that cover it; each is asked for what is open before it.

        Raises `InvalidInputError` for equal claims, and what the providers raise that are asked.
        """
        found: list[Claim | None] = [None] * len(activity.components)
        for place in self._places:
            open_places = [index for index, claim in enumerate(found) if not covers_all(claim)]
            if not open_places:
                break
            asked = replace(activity, components=tuple(activity.components[index] for index in open_places))
            said = [(one.name, one.claims(asked, system, network)) for one in place]
            for position, index in enumerate(open_places):
                before = found[index]
                done = before is not None and before.covers
                claim = _of_equals(
                    activity.components[index], [(name, claims[position]) for name, claims in said], done
                )
                found[index] = before if claim is None else merged(before, claim)
        return tuple(found)

    def explanation(
        self, component: ComponentActivity, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> str:
        """Of the first provider that has one."""
        texts = (one.explanation(component, activity, system, network) for one in self.providers)
        return next((text for text in texts if text), "")


def _of_equals(component: ComponentActivity, claims: list[tuple[str, Claim | None]], done: Any) -> Claim | None:
    """The claim of one place in the stack. Raises `InvalidInputError` where two cover a row that nobody before did."""
    found: Claim | None = None
    claimants: list[str] = []
    for name, claim in claims:
        if claim is None:
            continue
        if found is not None and np.any(np.logical_and(found.covers, claim.covers) & ~np.asarray(done)):
            raise InvalidInputError(
                component.component,
                got=f"{' and '.join([*claimants, name])}",
                rule="is claimed by two providers of the same place in the stack",
                next_step="Put one of them before the other, or leave one out.",
            )
        found = merged(found, claim)
        claimants.append(name)
    return found
