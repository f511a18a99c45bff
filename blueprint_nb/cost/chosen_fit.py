"""Which parameters of a calibration set time a kernel: those of its link and datatype, or of a family that works alike.

A set has its families by keys: `gemm`, `gemm:float8` of a datatype of its own, `all_reduce@NVLink 4` of a link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..system import NetworkTier, SystemProfile
from ..workload import element_bytes
from .calibration import CalibrationSet, FamilyFit
from .families import collective_keys, link_of

_BORROWED: Final = {"layer_norm": "rms_norm", "activation": "add"}
"""Family to the one whose parameters it takes where it has none: it moves the bytes of a row in the same way."""


@dataclass(frozen=True, slots=True)
class ChosenFit:
    """Parameters of a set, for one kernel."""

    key: str
    """Among the families of the set."""
    fit: FamilyFit
    borrowed_from: str
    """The family that they are of, where it is not the kernel's own; else empty."""


def chosen_fit(
    calibration: CalibrationSet, family: str, datatype: str, tier: NetworkTier | None, system: SystemProfile
) -> ChosenFit | None:
    """Those for kernels of a `family` in a `datatype`, over a `tier` where it is a collective; None where the set has
    none.
    """
    keys = [family] if tier is None else collective_keys(family, tier.name)
    own = [key for key in keys if _is_of(calibration, key, tier, system)]
    if (key := _key(calibration, own, datatype)) is not None:
        return ChosenFit(key, calibration.families[key], "")
    alike = _BORROWED.get(family)
    if alike is not None and (key := _key(calibration, [alike], datatype)) is not None:
        return ChosenFit(key, calibration.families[key], alike)
    return None


def was_observed(fit: FamilyFit, datatype: str) -> bool:
    """Whether kernels of elements as long were; a message counts in bytes, whatever they stand for."""
    return "message_bytes" in fit.ranges or element_bytes(datatype) in {element_bytes(name) for name in fit.datatypes}


def _is_of(calibration: CalibrationSet, key: str, tier: NetworkTier | None, system: SystemProfile) -> bool:
    """Whether a family was fitted over such a link: a preset of the reference model stands for the device's own."""
    fit = calibration.families.get(key)
    if fit is None or fit.link is None or tier is None or system.kind == "reference":
        return True
    return fit.link == link_of(tier)


def _key(calibration: CalibrationSet, keys: list[str], datatype: str) -> str | None:
    """The first family that is there: of the datatype itself, or of one whose elements are as long.

    A set for any device takes what it has, and says that the datatype is outside its range.
    """
    families = calibration.families
    exact = next((f"{key}:{datatype}" for key in keys if f"{key}:{datatype}" in families), None)
    found = exact or next((key for key in keys if key in families), None)
    if found is None or exact or not calibration.systems or was_observed(families[found], datatype):
        return found
    return None
