"""Who prices the cases of one system: a provider a mode, and the fitted parameters behind them.

Measurements are Vidur's, so parameters that were fitted to Vidur's kernels are taken where the system has them: those
of another stack are of other kernels. What they were fitted to is kept, for a report to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..analysis.providers import asked_in_order, calibration_of, calibrations_of, provider_of
from ..catalog import load_calibration
from ..cost import CalibrationSet, CostProvider, modes_of
from ..errors import InvalidInputError
from ..system import SystemProfile

CALIBRATED: Final = "calibrated"

_OF_THE_SAME_SOURCE: Final = "vidur"


@dataclass(frozen=True, slots=True)
class Pricing:
    """What prices the cases of one system."""

    providers: tuple[tuple[str, CostProvider], ...]
    """(Mode, provider)."""
    calibrations: tuple[CalibrationSet, ...]
    """Those behind the mode `calibrated`, in the order they are asked; none without that mode."""

    @classmethod
    def of(cls, system: SystemProfile, modes: Sequence[str] | None = None, calibration: str | None = None) -> Pricing:
        """Of every mode that `system` has the figures for, or of those in `modes`.

        Raises `InvalidInputError` where it has none of them, `UnknownNameError` for a calibration that does not price
        it.
        """
        own = modes_of(system)
        chosen = tuple(mode for mode in own if modes is None or mode in modes)
        if not chosen:
            got = ", ".join(modes or ())
            raise InvalidInputError("modes", got=got, rule=f"must hold a mode of {system.name}: {', '.join(own)}")
        if CALIBRATED not in chosen:
            return cls(tuple((mode, provider_of(system, mode)) for mode in chosen), ())
        name = experiment_calibration(system) if calibration is None else calibration
        first = calibration_of(system, CALIBRATED, name)
        names = asked_in_order(system, first)
        providers = tuple((mode, provider_of(system, mode, first if mode == CALIBRATED else "")) for mode in chosen)
        return cls(providers, tuple(load_calibration(one, system) for one in names))


def experiment_calibration(system: SystemProfile) -> str:
    """Parameters of the measurements' own source, or else the system's default."""
    known = calibrations_of(system)
    return _OF_THE_SAME_SOURCE if _OF_THE_SAME_SOURCE in known else known[0]
