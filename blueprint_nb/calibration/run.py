"""Calibration of every device of a source: for each family a pool of all devices, then each device drawn to it.

A device alone may not tell two parameters apart: it has a few row widths, or one head configuration. The pool holds
what it can't tell. What a fit is worth is asked of models that were left out of both, pool and device.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from ..catalog import load_system
from ..cost.calibration import CalibrationSet, FamilyFit
from ..cost.families import Family, Gemm, machine_of
from ..cost.families.row_wise import ROW_WISE
from ..errors import InvalidInputError
from .errors import Judged, error_figures, octave_residuals
from .fit import OPTIMISER, SEED, Pool, fit
from .observed import samples_of, system_of
from .splits import leave_one_model_out

if TYPE_CHECKING:
    import polars as pl

FAMILIES: Final[tuple[Family, ...]] = (Gemm(), *ROW_WISE)
"""Every family that is fitted."""

POOL_STRENGTH: Final = 1e-3
"""What a parameter that is a factor e from the pool's costs, in mean |ln ratio|."""

HELD_OUT_MODEL: Final = "leave-one-model-out, shared shapes purged"

Progress = Callable[[str], None]
"""Told what was just fitted."""


def steps(observations: pl.DataFrame, families: Sequence[Family]) -> int:
    """How often `calibrate` tells its progress."""
    present = [rows for family in families if len(rows := _rows(observations, family))]
    return sum(1 + rows["target"].n_unique() + rows["model"].n_unique() for rows in present)


def calibrate(
    observations: pl.DataFrame, families: Sequence[Family], name: str, progress: Progress
) -> list[CalibrationSet]:
    """A set of parameters for each device of the observations, which are of one source, sorted by its name.

    Families without observations are left out. Raises `InvalidInputError` where sources are mixed or nothing can be
    fitted, `UnknownNameError` for a device that no system stands for, `MissingExtraError` without scipy.
    """
    fits: dict[str, dict[str, FamilyFit]] = {}
    for family in families:
        rows = _rows(observations, family)
        for target, found in (_family_fits(rows, family, progress) if len(rows) else {}).items():
            fits.setdefault(target, {})[family.name] = found
    if not fits:
        raise InvalidInputError("observations", got="none", rule="must hold rows of a family that has a form")
    return [_set(_of(observations, "target", target), name, fits[target]) for target in sorted(fits)]


def _family_fits(rows: pl.DataFrame, family: Family, progress: Progress) -> dict[str, FamilyFit]:
    pool = Pool(fit(family, list(samples_of(rows, family))).values, POOL_STRENGTH)
    progress(f"{family.name}, all devices")
    held = _held_out(rows, family, pool, progress)
    fits = {}
    for target in _names(rows, "target"):
        own = _of(rows, "target", target)
        samples = list(samples_of(own, family))
        values = fit(family, samples, starts=[pool.values], pool=pool).values
        unseen = held.get(target)
        fits[target] = FamilyFit(
            values=dict(values),
            ranges={
                axis: (
                    min(int(one.shape[axis].min()) for one in samples),
                    max(int(one.shape[axis].max()) for one in samples),
                )
                for axis in family.dimensions
            },
            datatypes=tuple(_names(own, "datatype")),
            observations_digest=_digest(own),
            in_sample=error_figures(Judged.of(family, samples, values)),
            held_out={} if unseen is None else {HELD_OUT_MODEL: error_figures(unseen)},
            residuals=() if unseen is None else octave_residuals(unseen),
        )
        progress(f"{family.name}, {target}")
    return fits


def _held_out(rows: pl.DataFrame, family: Family, pool: Pool, progress: Progress) -> dict[str, Judged]:
    """Device to what fits without each model say of that model's rows."""
    parts: dict[str, list[Judged]] = {}
    for model, train, test in leave_one_model_out(rows, family.name):
        if len(train):
            others = fit(family, list(samples_of(train, family)), starts=[pool.values])
            for target in _names(test, "target"):
                seen = list(samples_of(_of(train, "target", target), family))
                values = fit(family, seen, starts=[others.values], pool=Pool(others.values, POOL_STRENGTH)).values
                unseen = list(samples_of(_of(test, "target", target), family))
                parts.setdefault(target, []).append(Judged.of(family, unseen, values))
        progress(f"{family.name}, without {model or 'any model'}")
    return {target: Judged.joined(judged) for target, judged in parts.items()}


def _set(rows: pl.DataFrame, name: str, families: dict[str, FamilyFit]) -> CalibrationSet:
    first = rows.row(0, named=True)
    system = system_of(first["source"], first["target"])
    datatype = next(iter(families.values())).datatypes[0]
    return CalibrationSet(
        name=name,
        target=first["target"],
        systems=(system,),
        source=first["source"],
        source_revision=first["source_revision"],
        software=first["software"],
        software_version=first["software_version"],
        machine=machine_of(load_system(system), datatype),
        seed=SEED,
        optimiser=OPTIMISER,
        families=families,
    )


def _digest(rows: pl.DataFrame) -> str:
    """SHA-256 over file, record, component and seconds of every row, whatever their order."""
    columns = rows.select("file_sha256", "record", "component", "seconds")
    lines = sorted("\t".join(str(value) for value in row) for row in columns.iter_rows())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _rows(observations: pl.DataFrame, family: Family) -> pl.DataFrame:
    return _of(observations, "family", family.name)


def _of(frame: pl.DataFrame, column: str, value: str) -> pl.DataFrame:
    return frame.filter(frame[column] == value)


def _names(frame: pl.DataFrame, column: str) -> list[str]:
    return [str(value) for value in frame[column].unique().sort()]
