"""The memory that the mode `calibrated` prices a system by."""

from __future__ import annotations

from functools import lru_cache

from ..catalog import load_calibration
from ..system import SystemProfile


@lru_cache(maxsize=32)
def fitted_bytes_per_second(system: SystemProfile) -> float:
    """Bandwidth of the device that the system's own sets were fitted to, which a preset of the reference model stands
    for; the system's where there is none. Raises as `load_calibration`.
    """
    sets = (load_calibration(name, system) for name in system.calibrations)
    machines = (one.machine for one in sets if one.machine is not None)
    return next((one.bytes_per_second for one in machines), system.memory.bytes_per_second)
