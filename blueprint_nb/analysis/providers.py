"""Who prices in which mode.

`calibrated` is a stack: the calibration that was asked for, then the others of the system, then the pooled one, so that
every component is covered and each row says by whom. A what-if of a system is a device that nobody measured, whose
figures the pooled calibration prices, unless it differs in nothing that kernels feel. Before any mode stands what a
user stacks: see `stacking`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final

from ..catalog import POOLED, load_calibration, load_system, system_names
from ..cost import (
    AnalyticalProvider,
    AssertedProvider,
    CalibratedProvider,
    CostProvider,
    CostResolver,
    WithHostOverhead,
    has_calibration,
    modes_of,
    require_mode,
)
from ..cost.families.machine import Machine, machine_of, missing_figures
from ..errors import InvalidInputError, UnknownNameError, UnsupportedError, shown, unknown_name
from ..system import SystemProfile
from ..units import MIB
from .fitted_machine import fitted_machine
from .inputs import RequestInputs, Stacked

_EXAMPLES: Final = {"compute_units": 132, "l2_cache_mib": 50}
"""How figures are written that a profile may lack."""


def default_mode(system: SystemProfile) -> str:
    """`calibrated` where parameters price the system; reference presets define `system-evidence`, so they keep it, and
    so does a what-if of one that its sets still price, by the figures of the device that it stands for.
    """
    stands_in = bool(missing_figures(system)) and not system.missing_efficiency
    if system.kind == "reference" or stands_in or not has_calibration(system):
        return "system-evidence"
    return "calibrated"


def mode_of(system: SystemProfile, mode: str | None, calibration: str | None = None) -> str:
    """`mode`; where none is named that of the `calibration`, or the system's default. Raises `UnknownNameError`, and
    `UnsupportedError` where a system has figures for neither of the modes that may be its default.
    """
    if mode is not None:
        return require_mode(mode)
    chosen = default_mode(system) if calibration is None else "calibrated"
    if chosen not in modes_of(system):
        _refuse_missing_figures(system)
    return chosen


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
    if calibration in known:
        return calibration
    if not system.calibrations:
        raise _pooled_alone(system, calibration)
    raise unknown_name("calibration", calibration, known)


def _pooled_alone(system: SystemProfile, calibration: object) -> UnknownNameError:
    """The error for a set that was asked for of a system that has none; it tells a what-if that had some why."""
    base = system.base_name
    if base != system.name and base in system_names() and load_system(base).calibrations:
        why = f"whose figures were changed, so that it is no longer the GPU that sets of {base} were fitted to"
        next_step = f"Compare it with {base} by calibration={POOLED!r} for both."
    else:
        why = "which has no sets of its own"
        next_step = f"Leave it out, or use calibration={POOLED!r}."
    rule = f"must be {POOLED} for {system.name}, {why}"
    return UnknownNameError("calibration", got=shown(calibration), rule=rule, next_step=next_step)


def calibrations_of(system: SystemProfile) -> tuple[str, ...]:
    """Calibrations that price `system`, its default first."""
    return (*system.calibrations, POOLED)


def asked_in_order(system: SystemProfile, calibration: str) -> tuple[str, ...]:
    """The calibrations that price `system`, the one that was asked for first, then those that stand in for it."""
    others = (name for name in calibrations_of(system) if name != calibration)
    return (*filter(None, [calibration]), *others)


def pricing_in_words(system: SystemProfile, mode: str, calibration: str) -> str:
    """ "peak-only", "calibrated by vidur, else vllm-0.14, pooled"."""
    if not calibration:
        return mode
    first, *others = asked_in_order(system, calibration)
    return f"{mode} by {first}{', else ' if others else ''}{', '.join(others)}"


def provider_for(inputs: RequestInputs) -> CostProvider:
    """What prices a request. Raises as `provider_of`."""
    return provider_of(inputs.system, inputs.mode, inputs.calibration, inputs.stacked, inputs.host_overhead)


def provider_of(
    system: SystemProfile,
    mode: str,
    calibration: str = "",
    stacked: Sequence[Stacked] = (),
    host_overhead: bool = False,
) -> CostProvider:
    """What prices `system` in a mode, by a calibration of `calibration_of`, after those that are `stacked` before it.

    Raises `UnknownNameError` and `ProfileError` for a calibration that is not there, `InvalidInputError` for a stacked
    provider that is not at hand, `UnsupportedError` for the host where nothing prices it and where the system lacks
    figures for the mode.
    """
    before = [[one.at_hand() for one in equals] for _, equals in groupby(stacked, key=lambda one: one.method)]
    if mode == "calibrated":
        _refuse_missing_figures(system)
    calibrated = _calibrated(system, calibration) if mode == "calibrated" else ()
    last: Sequence[CostProvider] = calibrated or [AnalyticalProvider(mode)]
    devices = CostResolver([*before, *last]) if before or calibrated else last[0]
    if not host_overhead:
        return devices
    return WithHostOverhead(devices, _host_of(system, calibrated or _calibrated(system, ""), stacked))


def set_provider(system: SystemProfile, calibration: str) -> CalibratedProvider:
    """Of one calibration of `calibrations_of`. Raises as `provider_of`."""
    return _calibrated(system, calibration)[0]


@lru_cache(maxsize=32)
def _calibrated(system: SystemProfile, calibration: str) -> tuple[CalibratedProvider, ...]:
    """A provider for each set that prices `system`, that of the named one first.

    Each takes the figures of the first set that has some where its own has none.
    """
    sets = [load_calibration(name, system) for name in asked_in_order(system, calibration)]
    machine = fitted_machine(system)
    if machine is not None:
        _refuse_changed_figures(system, machine)
    return tuple(CalibratedProvider(one, machine) for one in sets)


def _refuse_missing_figures(system: SystemProfile) -> None:
    """Raises `UnsupportedError`, naming the figures that the forms read, where neither the profile nor a set of its own
    gives them.
    """
    missing = missing_figures(system)
    if missing and not system.calibrations:
        place, device, figures = _example_for(system)
        example = " and ".join(f"{name} = {figures[name]:g}" for name in missing)
        modes = " or ".join(f"mode={mode!r}" for mode in modes_of(system))
        raise UnsupportedError(
            system.name,
            got=f"a profile without {' and '.join(missing)}",
            rule=f"must give {' and '.join(missing)} to be priced in the mode calibrated",
            next_step=f"Add to the {place} figures such as {example} (of {device}), or use {modes}.",
        )


def _example_for(system: SystemProfile) -> tuple[str, str, Mapping[str, float]]:
    """Where figures that lack are written, whose may be an example, and these: of what a what-if changes, if known."""
    original = system.base_name
    if original != system.name and original in system_names():
        machine = fitted_machine(load_system(original))
        if machine is not None:
            figures = {"compute_units": machine.compute_units, "l2_cache_mib": machine.l2_bytes / MIB}
            return "overrides", f"the device of {original}", figures
    return "profile", "an H100", _EXAMPLES


def _refuse_changed_figures(system: SystemProfile, machine: Machine) -> None:
    """Raises `InvalidInputError` where the profile was changed since its sets were fitted.

    A preset of the reference model keeps its own figures for its own modes, and stands for the device in this one.
    """
    if system.kind == "reference" or missing_figures(system):
        return
    own = machine_of(system, "float16")
    differing = [name for name in type(machine).model_fields if getattr(own, name) != getattr(machine, name)]
    if differing:
        raise InvalidInputError(
            f"{system.name}.calibrations",
            got=", ".join(f"{name} {getattr(own, name):,.6g}, not {getattr(machine, name):,.6g}" for name in differing),
            rule="name sets that were fitted to a device of other figures",
            next_step="Take `calibrations` out of the profile, so that the pooled one prices it.",
        )


def _host_of(
    system: SystemProfile, calibrated: Sequence[CalibratedProvider], stacked: Sequence[Stacked]
) -> CostResolver:
    """Who prices the host: whoever asserts it, then the first set that has parameters for it."""
    providers = [one.at_hand() for one in stacked]
    asserted = [one for one in providers if isinstance(one, AssertedProvider) and one.asserts_host]
    fitted = [one for one in calibrated if "host" in one.calibration.families]
    if not asserted and not fitted:
        raise UnsupportedError(
            "host_overhead",
            got="True",
            rule=f"has no parameters in any calibration of {system.name}: {', '.join(calibrations_of(system))}",
            next_step="Leave it out, or give the seconds of a step besides: asserted={'host_overhead': 0.005}.",
        )
    return CostResolver([*asserted, *fitted])
