"""Who prices in which mode.

`calibrated` is a stack: the calibration that was asked for, then the others of the system, then the pooled one, so that
every component is covered and each row says by whom. A what-if of a system is a device that nobody measured: the pooled
calibration prices it by its figures.
"""

from __future__ import annotations

from ..catalog import POOLED, load_calibration
from ..cost import AnalyticalProvider, CalibratedProvider, CostProvider, CostResolver, has_calibration, require_mode
from ..errors import InvalidInputError, shown, unknown_name
from ..system import SystemProfile


def default_mode(system: SystemProfile) -> str:
    """`calibrated` where parameters price the system; reference presets define `system-evidence`, so they keep it."""
    if system.kind == "reference" or not has_calibration(system):
        return "system-evidence"
    return "calibrated"


def mode_of(system: SystemProfile, mode: str | None) -> str:
    """`mode`, or the system's default. Raises `UnknownNameError`."""
    return default_mode(system) if mode is None else require_mode(mode)


def calibration_of(system: SystemProfile, mode: str, calibration: str | None) -> str:
    """The calibration that prices `system` in `mode`: the one asked for, else its default; empty in other modes.

    Raises `UnknownNameError` for one that does not price the system, `InvalidInputError` for one in another mode.
    """
    if mode != "calibrated":
        if calibration is not None:
            rule = f"belongs to mode='calibrated', not to {mode!r}"
            next_step = "Leave one of them out."
            raise InvalidInputError("calibration", got=shown(calibration), rule=rule, next_step=next_step)
        return ""
    known = calibrations_of(system)
    if calibration is None:
        return known[0]
    if calibration not in known:
        raise unknown_name("calibration", calibration, known)
    return calibration


def calibrations_of(system: SystemProfile) -> tuple[str, ...]:
    """Calibrations that price `system`, its default first."""
    return (*system.calibrations, POOLED)


def provider_of(system: SystemProfile, mode: str, calibration: str = "") -> CostProvider:
    """What prices `system` in a mode, by a calibration of `calibration_of`.

    Raises `UnknownNameError` and `ProfileError` for a calibration that is not there.
    """
    if mode != "calibrated":
        return AnalyticalProvider(mode)
    others = (name for name in calibrations_of(system) if name != calibration)
    sets = [load_calibration(name, system) for name in (calibration, *others)]
    machine = next((one.machine for one in sets if one.machine is not None), None)
    return CostResolver([CalibratedProvider(one, machine) for one in sets])
