"""Calibration of every device of a source: the sets of parameters that its studies make."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ..catalog import load_system
from ..cost.calibration import CalibrationSet, FamilyFit
from ..cost.families import machine_of
from ..errors import InvalidInputError
from .fit import OPTIMISER, SEED
from .observed import system_of
from .study import Progress, Study, family_fits, names, of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Progress", "calibrate", "devices_of", "nothing_to_fit", "steps", "studies_of"]

_ALSO: Final = {"a100_80g_pcie": ("a100_80g",), "h100_80g_sxm": ("h100_80g_nvl8",)}
"""System to others that describe the device: the presets of the reference model, which Vidur was compared with."""


def steps(studies: Sequence[Study]) -> int:
    """How often `calibrate` tells its progress, for all devices."""
    return sum(study.steps for study in studies)


def devices_of(studies: Iterable[Study]) -> list[str]:
    """As their sources name them, sorted. Raises `InvalidInputError` where there is none."""
    found = {target for study in studies for target in names(study.rows, "target")}
    if not found:
        raise nothing_to_fit()
    return sorted(found)


def nothing_to_fit() -> InvalidInputError:
    """To be raised where no observation is of a family that has a form."""
    return InvalidInputError("observations", got="none", rule="must hold rows of a family that has a form")


def studies_of(studies: Sequence[Study], targets: Collection[str]) -> list[Study]:
    """Those that have rows of one of `targets`."""
    return [study for study in studies if not set(targets).isdisjoint(names(study.rows, "target"))]


def calibrate(
    studies: Sequence[Study], name: str, progress: Progress, targets: Sequence[str] | None = None
) -> list[CalibrationSet]:
    """A set of parameters for each device of the studies, or of `targets`, sorted by its name.

    A device alone gets the parameters that it gets with all others. Raises `InvalidInputError` where nothing can be
    fitted, `UnknownNameError` for a device that no system stands for, `MissingExtraError` without scipy.
    """
    fits: dict[str, dict[str, FamilyFit]] = {}
    rows: dict[str, pl.DataFrame] = {}
    models: dict[str, set[str]] = {}
    for study in studies:
        for target, found in family_fits(study, targets, progress).items():
            fits.setdefault(target, {})[study.key] = found
            own = of(study.rows, "target", target)
            rows.setdefault(target, own)
            models.setdefault(target, set()).update(name for name in names(own, "model") if name)
    if not fits:
        raise nothing_to_fit()
    return [_set(rows[target], name, fits[target], sorted(models[target])) for target in sorted(fits)]


def _set(rows: pl.DataFrame, name: str, families: Mapping[str, FamilyFit], models: Sequence[str]) -> CalibrationSet:
    """A device's set; `rows` are of its first study."""
    first = rows.row(0, named=True)
    system = system_of(first["source"], first["target"])
    also = _ALSO.get(system, ()) if first["source"] == "vidur" else ()
    return CalibrationSet(
        name=name,
        target=first["target"],
        systems=(system, *also),
        source=first["source"],
        source_revision=first["source_revision"],
        software=first["software"],
        software_version=first["software_version"],
        models=tuple(models),
        machine=machine_of(load_system(system), first["datatype"]),
        seed=SEED,
        optimiser=OPTIMISER,
        families=dict(families),
    )
