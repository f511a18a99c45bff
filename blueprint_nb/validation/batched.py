"""Many plans of one template priced at once, and each plan's share of that by itself.

A fitted form takes about as long for a thousand shapes as for one. What a plan gets is what it would get alone, but for
the last digits, and its origin is its own. That takes plans that run the same kernels: of steps in which every sequence
brings one token to a context, or of steps in which none does. One token that sees itself alone may go by either kernel,
so such plans of different batches are priced apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np

from ..analysis import PhaseEstimate
from ..analysis.frames import WORK_COLUMNS
from ..analysis.phase import price
from ..cost import Activity, ComponentCost, CostBlock, CostProvider, plan_activity
from ..ir import BoundPlan
from ..mapping import NetworkTierBinding
from ..system import SystemProfile


def estimate_plans(
    plans: Sequence[BoundPlan], system: SystemProfile, network: NetworkTierBinding, provider: CostProvider
) -> list[PhaseEstimate]:
    """An estimate of each of `plans`, which are of one template and of one answer of `kernels_run`.

    Raises as `estimate_inference_phase`.
    """
    activities = [plan_activity(plan) for plan in plans]
    block = price(provider, _stacked(activities), system, network)
    # A list gives a plan's number sooner than an array does.
    columns = [cost.mapped(lambda figures: np.broadcast_to(figures, (len(plans),)).tolist()) for cost in block.costs]
    estimates = []
    for index, (plan, activity) in enumerate(zip(plans, activities, strict=True)):
        costs = tuple(_at(column, index) for column in columns)
        estimates.append(PhaseEstimate(plan, CostBlock(activity, costs, block.provider, block.system_revision)))
    return estimates


def kernels_run(plan: BoundPlan) -> tuple[str, int]:
    """The same for plans that run the same kernels of attention."""
    sequences = plan.statistics["sequences"]
    if plan.statistics["tokens"] != sequences:
        return "prefill", 0
    return ("either", sequences) if plan.statistics["context"] == sequences else ("decode", 0)


def _stacked(activities: Sequence[Activity]) -> Activity:
    """One activity of as many points: int64 arrays of shape (points,)."""
    first = activities[0]
    components = tuple(
        replace(of_points[0], **{name: _array([getattr(one, name) for one in of_points]) for name in WORK_COLUMNS})
        for of_points in zip(*(activity.components for activity in activities), strict=True)
    )
    statistics = {name: _array([activity.statistics[name] for activity in activities]) for name in first.statistics}
    return Activity(first.datatype, components, statistics)


def _array(values: Sequence[int]) -> Any:
    return np.array(values, dtype=np.int64)


def _at(columns: ComponentCost, index: int) -> ComponentCost:
    """One plan's cost, with its origin alone."""
    cost = columns.mapped(itemgetter(index))
    if len(cost.origins) < 2:
        return cost
    return replace(cost, origins=(cost.origins[cost.origin_index],), origin_index=0)
