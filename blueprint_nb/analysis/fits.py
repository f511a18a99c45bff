"""Which fitted parameters stand behind a component's seconds."""

from __future__ import annotations

from dataclasses import dataclass

from ..catalog import load_calibration
from ..cost import CalibrationSet, ComponentActivity, ComponentCost
from ..cost.analytical import carrying_tier
from ..cost.calibration import FamilyFit
from ..cost.chosen_fit import chosen_fit
from .inputs import RequestInputs
from .priced_by import origin_of, set_name


@dataclass(frozen=True, slots=True)
class UsedFit:
    """A family's parameters in a set."""

    calibration: CalibrationSet
    family: str
    """Whose parameters they are: of another family than the component's, where they are borrowed."""
    fit: FamilyFit


def fit_of(inputs: RequestInputs, activity: ComponentActivity, cost: ComponentCost) -> UsedFit | None:
    """The parameters that priced a component; None where no calibration did. Raises as `load_calibration`."""
    origin = origin_of(cost)
    if origin is None or origin.method != "calibrated":
        return None
    calibration = load_calibration(set_name(origin), inputs.system)
    crosses = activity.collective is not None and activity.ranks > 1
    tier = carrying_tier(activity, inputs.system, inputs.network) if crosses else None
    chosen = chosen_fit(calibration, cost.family, inputs.request.datatype, tier, inputs.system)
    return None if chosen is None else UsedFit(calibration, chosen.borrowed_from or cost.family, chosen.fit)
