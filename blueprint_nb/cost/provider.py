"""Who says what an activity costs.

A provider turns activity into a `CostBlock` and sees neither model nor workload. Measured references are not
providers: an oracle offers only look-ups, and only after an estimate is frozen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Final

from pydantic import BeforeValidator

from ..errors import one_of
from ..mapping import NetworkTierBinding
from ..system import SystemProfile
from .activity import Activity
from .block import CostBlock

MODES: Final = ("peak-only", "system-evidence")


class CostProvider(ABC):
    """Turns activity into seconds."""

    name: str

    @abstractmethod
    def cost(self, activity: Activity, system: SystemProfile, network: NetworkTierBinding) -> CostBlock:
        """Seconds of every component. Raises `UnsupportedError`, naming the figure the system lacks."""


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
    return MODES[:1] if system.missing_efficiency else MODES
