"""Costs that somebody states, measured or asserted, in place of a model of the kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..mapping import NetworkTierBinding
from ..system import SystemProfile
from .activity import Activity, ComponentActivity
from .analytical import AnalyticalProvider
from .bands import Band
from .block import ComponentCost
from .kernels import Kernel
from .origin import Origin


def stated_cost(
    seconds: Any, band: Band, family: str, origins: tuple[Origin, ...], origin_index: Any, at_peak: ComponentCost
) -> ComponentCost:
    """A component whose `seconds` are stated: floats, or float64 arrays of the points' shape, as the ends of the band.

    A stated time has no terms: in their place stands what the work takes at the system's peaks, which says what bounds
    it and limits nothing. Errors of different shapes have nothing to do with each other.
    """
    return replace(
        at_peak,
        seconds=seconds,
        floor_seconds=seconds if family == "host" else at_peak.floor_seconds,
        band=band,
        family=family,
        correlation=0.0,
        origins=origins,
        origin_index=origin_index,
    )


def cost_at_peak(
    component: ComponentActivity, activity: Activity, system: SystemProfile, network: NetworkTierBinding
) -> ComponentCost:
    """Of one component. Raises `UnsupportedError`, naming the figure that the system lacks."""
    alone = replace(activity, components=(component,))
    return AnalyticalProvider("peak-only").cost(alone, system, network).costs[0]


def covered(kernel: Kernel, places: Any) -> Any:
    """At which points a stated shape is that of the kernel: bool of the points' shape."""
    return np.logical_and(np.logical_and(places >= 0, kernel.covers), kernel.is_whole)


def known_places(places: Any, covers: Any) -> Any:
    """`places` with some that there is where nothing is covered: what a claim does not cover is never read."""
    places, covers = np.broadcast_arrays(places, covers)
    return np.where(covers, places, places[covers].reshape(-1)[0])


def is_silent(component: ComponentActivity) -> bool:
    """Whether a collective has nobody to talk to."""
    return component.collective is not None and component.ranks < 2
