"""The device that the mode `calibrated` prices a system by."""

from __future__ import annotations

from functools import lru_cache

from ..catalog import load_calibration
from ..cost.families import Machine
from ..system import SystemProfile


def fitted_machine(system: SystemProfile) -> Machine | None:
    """The device that the system's own sets were fitted to; None where there is none. Raises as `load_calibration`."""
    sets = (load_calibration(name, system) for name in system.calibrations)
    return next((one.machine for one in sets if one.machine is not None), None)


@lru_cache(maxsize=32)
def fitted_bytes_per_second(system: SystemProfile) -> float:
    """Bandwidth of the device that the system's own sets were fitted to, which a preset of the reference model stands
    for; the system's where there is none. Raises as `load_calibration`.
    """
    machine = fitted_machine(system)
    return system.memory.bytes_per_second if machine is None else machine.bytes_per_second
