"""Which fitted parameters stand behind a component's seconds."""

from __future__ import annotations

from dataclasses import dataclass

from ..catalog import load_calibration
from ..cost import CalibrationSet, ComponentActivity, ComponentCost
from ..cost.analytical import carrying_tier
from ..cost.calibration import FamilyFit
from ..cost.families import collective_keys
from .inputs import RequestInputs
from .priced_by import origin_of, set_name

_BORROWED = "borrowed from "


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
    is_borrowed = origin.match.startswith(_BORROWED)
    family = origin.match.removeprefix(_BORROWED).partition(",")[0] if is_borrowed else cost.family
    for key in _keys(inputs, activity, family):
        if key in calibration.families:
            return UsedFit(calibration, family, calibration.families[key])
    return None


def _keys(inputs: RequestInputs, activity: ComponentActivity, family: str) -> list[str]:
    """Names that a family's parameters go by, the closest first: of the link and of the datatype, then of any."""
    names = [family]
    if activity.collective is not None and activity.ranks > 1:
        names = collective_keys(family, carrying_tier(activity, inputs.system, inputs.network).name)
    return [*(f"{name}:{inputs.request.datatype}" for name in names), *names]
