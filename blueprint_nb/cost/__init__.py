"""Bound plan × system -> activity -> seconds, by component and by term. Sees neither model nor workload."""

from .activity import Activity, ComponentActivity, plan_activity, template_activity
from .analytical import AnalyticalProvider
from .asserted import BY_COMPONENT, USER_ASSERTED, AssertedProvider
from .bands import BAND_FRACTION, Band, Deviation, band_of_sum
from .block import BOUNDS, ComponentCost, CostBlock, bound_index
from .calibrated import CalibratedProvider
from .calibration import CalibrationSet
from .exact_evidence import ExactEvidenceProvider, evidence_providers
from .host_overhead import HOST_LAYER, HOST_OVERHEAD, WithHostOverhead
from .learned import LEARNED_RESIDUAL, LearnedResidualProvider
from .noise import NoiseFloors
from .origin import Origin
from .provider import (
    ANALYTICAL_MODES,
    MODES,
    Claim,
    CostProvider,
    Mode,
    has_calibration,
    modes_of,
    require_mode,
    require_provider,
)
from .resolver import CostResolver

__all__ = [
    "ANALYTICAL_MODES",
    "BAND_FRACTION",
    "BOUNDS",
    "BY_COMPONENT",
    "HOST_LAYER",
    "HOST_OVERHEAD",
    "LEARNED_RESIDUAL",
    "MODES",
    "USER_ASSERTED",
    "Activity",
    "AnalyticalProvider",
    "AssertedProvider",
    "Band",
    "CalibratedProvider",
    "CalibrationSet",
    "Claim",
    "ComponentActivity",
    "ComponentCost",
    "CostBlock",
    "CostProvider",
    "CostResolver",
    "Deviation",
    "ExactEvidenceProvider",
    "LearnedResidualProvider",
    "Mode",
    "NoiseFloors",
    "Origin",
    "WithHostOverhead",
    "band_of_sum",
    "bound_index",
    "evidence_providers",
    "has_calibration",
    "modes_of",
    "plan_activity",
    "require_mode",
    "require_provider",
    "template_activity",
]
