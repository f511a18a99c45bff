"""Bound plan × system -> activity -> seconds, by component and by term. Sees neither model nor workload."""

from .activity import Activity, ComponentActivity, plan_activity, template_activity
from .analytical import AnalyticalProvider
from .block import BOUNDS, ComponentCost, CostBlock, bound_index
from .provider import MODES, CostProvider, Mode, modes_of, require_mode, require_provider

__all__ = [
    "BOUNDS",
    "MODES",
    "Activity",
    "AnalyticalProvider",
    "ComponentActivity",
    "ComponentCost",
    "CostBlock",
    "CostProvider",
    "Mode",
    "bound_index",
    "modes_of",
    "plan_activity",
    "require_mode",
    "require_provider",
    "template_activity",
]
