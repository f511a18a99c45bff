"""How a component's terms make up its seconds: it depends on who prices it.

The analytical modes add compute and memory time on a system of `no_overlap`, and take the larger of the two on one of
`roofline`. Fitted forms have a floor, then all else, overlapped as the kernel has it (see `cost.families`); so are
times drawn and counted that were measured or asserted, whose terms say at most what bounds them.
"""

from __future__ import annotations

from ..cost import ANALYTICAL_MODES, ComponentCost, CostBlock
from ..system import SystemProfile
from .priced_by import origin_of


def is_fitted(cost: ComponentCost) -> bool:
    """Whether something else than an analytical mode gave a component's seconds."""
    origin = origin_of(cost)
    return origin is not None and origin.method not in ANALYTICAL_MODES


def any_fitted(costs: CostBlock) -> bool:
    """Whether that is so of a component of the phase."""
    return any(map(is_fitted, costs.costs))


def adds_terms(cost: ComponentCost, system: SystemProfile) -> bool:
    """Whether a component's compute and memory time follow each other."""
    return system.processing_mode == "no_overlap" and not is_fitted(cost)
