"""Who says what an activity costs.

A provider turns activity into a `CostBlock` and sees neither model nor workload. Measured references are not
providers: an oracle offers only look-ups, and only after an estimate is frozen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BeforeValidator

from ..errors import one_of
from ..mapping import NetworkTierBinding
from ..system import SystemProfile
from .activity import Activity, ComponentActivity
from .block import ComponentCost, CostBlock
from .families.machine import missing_figures

ANALYTICAL_MODES: Final = ("peak-only", "system-evidence")
MODES: Final = (*ANALYTICAL_MODES, "calibrated")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a provider says of one component."""

    cost: ComponentCost
    covers: Any = True
    """At which points: a bool, or a bool array of the points' shape. What the cost says elsewhere means nothing."""


class CostProvider(ABC):
    """Turns activity into seconds."""

    name: str

    @abstractmethod
    def cost(self, activity: Activity, system: SystemProfile, network: NetworkTierBinding) -> CostBlock:
        """Seconds of every component. Raises `UnsupportedError`, naming the figure the system lacks."""

    def claims(
        self, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> tuple[Claim | None, ...]:
        """For each component what it says of it; None where it says nothing. Raises as `cost`."""
        return tuple(Claim(cost) for cost in self.cost(activity, system, network).costs)

    def explanation(
        self,
        component: ComponentActivity,
        activity: Activity,
        system: SystemProfile,
        network: NetworkTierBinding,
    ) -> str:
        """How one component's time at one point comes about, in words; empty where there is nothing to say."""
        return ""


def require_provider(provider: object) -> CostProvider:
    """`provider`, if it is one. Raises TypeError."""
    if not isinstance(provider, CostProvider):
        raise TypeError(f"costing takes a CostProvider, got {type(provider).__name__}: an oracle can't price a plan")
    return provider


def require_mode(mode: object) -> str:
    """`mode`, if it names a cost mode. Raises `UnknownNameError`."""
    return one_of("mode", mode, MODES)


Mode = Annotated[str, BeforeValidator(require_mode)]
"""The name of a cost mode."""


def modes_of(system: SystemProfile) -> tuple[str, ...]:
    """The modes that `system` has the figures for."""
    analytical = ANALYTICAL_MODES[:1] if system.missing_efficiency else ANALYTICAL_MODES
    return (*analytical, "calibrated") if has_calibration(system) else analytical


def has_calibration(system: SystemProfile) -> bool:
    """Whether parameters can price `system`: those of its own, or the pooled ones by its figures."""
    return bool(system.calibrations) or not missing_figures(system)
