"""Bound plan × system -> activity -> seconds, by component and by term. Sees neither model nor workload."""

from .activity import Activity, ComponentActivity, plan_activity, template_activity
from .analytical import AnalyticalProvider
from .block import ComponentCost, CostBlock
from .provider import MODES, CostProvider, require_mode, require_provider

__all__ = [
    "MODES",
    "Activity",
    "AnalyticalProvider",
    "ComponentActivity",
    "ComponentCost",
    "CostBlock",
    "CostProvider",
    "plan_activity",
    "require_mode",
    "require_provider",
    "template_activity",
]
