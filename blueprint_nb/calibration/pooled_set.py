"""One set for any device: every family fitted over all GPUs of both sources at once, and asked about GPUs left out.

All tables weigh the same (see `pooled_families`). Residuals are those of GPUs that were left out, where models were
timed with one of the models (see `pooled_parts`), so a band says what an unseen GPU may bring; there it is no narrower
than those of the measured GPUs are in the median. Of attention, which has a kernel for each generation, the one form is
taken that errs least on GPUs left out.

Errors are told of one row a shape, at most 1,500 a table, drawn so that each octave of size (from one power of two to
the next) comes as often: a table of 36,000 rows weighs no more than one of 2,000.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import median
from typing import Final

from ..cost.calibration import CalibrationSet, FamilyFit, OctaveResiduals
from ..cost.families import AttentionDecode, AttentionPrefill, Family
from ..evidence.observations import SOURCE_KEY
from .errors import Judged, error_figures
from .fit import OPTIMISER, SEED, fit, start_pool
from .fitting import START_STRENGTH, rounded
from .pooled_families import ACROSS, PooledFamily, Table, is_across
from .pooled_parts import HELD_OUT_BOTH, HELD_OUT_GPU, count_of_parts, pooled_parts
from .residuals import HeldOutResiduals, held_out_residuals
from .run import Progress, nothing_to_fit
from .starts import starts_of
from .study import digest, family_fits, names, ranges

NAME: Final = "pooled"

_UNSEEN: Final = 2.0
"""An estimate: so many times as far, in logarithms, does a band reach that one GPU's own rows make of another's."""

_ROWS: Final = 500
"""Of each sample that a fit sees."""

_ATTENTION_ROWS: Final = 250
_JUDGED_ROWS: Final = 1500
"""Of each sample that errors are told of."""


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A form with its tables, and what it was worth on what it did not see."""

    form: Family
    tables: Sequence[Table]
    held_out: Mapping[str, Judged]


def steps(family: PooledFamily) -> int:
    """How often `pooled_set` tells its progress of a family."""
    if family.is_of_one_gpu:
        return sum(study.steps for study in family.studies if not is_across(study))
    of_devices = sum(study.steps for study in family.studies) if family.models else 0
    return len(family.forms) * count_of_parts(family) + 1 + of_devices


def pooled_set(families: Sequence[PooledFamily], progress: Progress) -> CalibrationSet:
    """The set that prices any device.

    Raises `InvalidInputError` where nothing can be fitted, `MissingExtraError` without scipy.
    """
    import polars as pl

    if not families:
        raise nothing_to_fit()
    studies = [study for family in families for study in family.studies]
    rows = pl.concat([study.rows.select(SOURCE_KEY).unique() for study in studies])
    sources = rows.select("source", "source_revision").unique().sort("source", "source_revision")
    models = {name for study in studies for name in names(study.rows, "model") if name}
    return CalibrationSet(
        name=NAME,
        target="",
        systems=(),
        source=", ".join(sources["source"]),
        source_revision=", ".join(sources["source_revision"]),
        software=", ".join(names(rows, "software")),
        software_version=", ".join(name for name in names(rows, "software_version") if name),
        models=tuple(sorted(models)),
        seed=SEED,
        optimiser=OPTIMISER,
        families={family.name: _family_fit(family, progress) for family in families},
    )


def _one_gpu_fit(family: PooledFamily, progress: Progress) -> FamilyFit:
    """Of the one GPU that was measured, in one box, which says little of another.

    Its band is at least twice as wide as on ranks or rows that it did not see; what it holds of another GPU nobody
    knows.
    """
    study = next(one for one in family.studies if not is_across(one))
    (fit,) = family_fits(study, None, progress).values()
    return fit.model_copy(update={"link": None, "residuals": _for_unseen_gpus(fit.residuals), "coverage_percent": None})


def _for_unseen_gpus(residuals: Sequence[OctaveResiduals]) -> tuple[OctaveResiduals, ...]:
    reaches = (max(near.reach for near in residuals if abs(near.octave - one.octave) <= 2) for one in residuals)
    return tuple(_reaching(one, _UNSEEN * reach) for one, reach in zip(residuals, reaches, strict=True))


def _no_surer(residuals: Sequence[OctaveResiduals], own: Sequence[FamilyFit]) -> tuple[OctaveResiduals, ...]:
    """At least as far, in the median, as measured devices are off themselves: an unseen one is not known better."""
    reaches: dict[int, list[float]] = {}
    for one in chain.from_iterable(of_device.residuals for of_device in own):
        reaches.setdefault(one.octave, []).append(one.reach)
    return tuple(_reaching(one, max(one.reach, median(reaches.get(one.octave, [0.0])))) for one in residuals)


def _reaching(one: OctaveResiduals, reach: float) -> OctaveResiduals:
    by = one.widened + reach - one.reach
    return one.model_copy(update={"reach": round(reach, 5), "widened": round(by, 5)})


def _family_fit(family: PooledFamily, progress: Progress) -> FamilyFit:
    if family.is_of_one_gpu:
        return _one_gpu_fit(family, progress)
    candidates = [_candidate(family, form, progress) for form in family.forms]
    best = min(candidates, key=_unseen_error)
    tables = [table for table in best.tables if not table.gpu.endswith(ACROSS)] or list(best.tables)
    values = _values(best.form, tables)
    progress(f"{family.name}, all GPUs")
    seen = Judged.joined([_judged(best.form, table, values, 0) for table in tables])
    unseen = best.held_out.get(HELD_OUT_BOTH, best.held_out.get(HELD_OUT_GPU))
    residuals = HeldOutResiduals() if unseen is None else held_out_residuals(unseen, seen)
    if family.models:
        own = list(chain.from_iterable(family_fits(study, None, progress).values() for study in family.studies))
        residuals = replace(residuals, octaves=_no_surer(residuals.octaves, own))
    import polars as pl

    rows = pl.concat([table.rows for table in tables])
    return FamilyFit(
        values=values,
        kernel=getattr(best.form, "kernel", ""),
        ranges=ranges([table.sample for table in tables], best.form),
        datatypes=tuple(names(rows, "datatype")),
        observations_digest=digest(rows),
        in_sample=error_figures(seen),
        held_out={label: error_figures(judged) for label, judged in best.held_out.items()},
        **residuals.fields,
    )


def _unseen_error(candidate: _Candidate) -> float:
    unseen = candidate.held_out.get(HELD_OUT_GPU)
    return 0.0 if unseen is None else float(unseen.relative.mean())


def _candidate(family: PooledFamily, form: Family, progress: Progress) -> _Candidate:
    judged: dict[str, list[Judged]] = {}
    for label, part in pooled_parts(family, form):
        if part.known and part.asked:
            values = _values(form, part.known)
            fitted_to = ranges([table.sample for table in part.known], form)
            found = (_judged(form, table, values, part.number, fitted_to) for table in part.asked)
            judged.setdefault(label, []).extend(found)
        progress(f"{family.name}, {part.name} out")
    return _Candidate(form, family.tables(form), {label: Judged.joined(rows) for label, rows in judged.items()})


def _values(form: Family, tables: Sequence[Table]) -> dict[str, float]:
    samples = [table.sample for table in tables]
    starts = starts_of(form, samples)
    rows = _ATTENTION_ROWS if isinstance(form, (AttentionDecode, AttentionPrefill)) else _ROWS
    found = fit(form, samples, starts=starts, pool=start_pool(form, START_STRENGTH), rows=rows).values
    return {name: rounded(value) for name, value in found.items()}


def _judged(
    form: Family,
    table: Table,
    values: Mapping[str, float],
    number: int,
    fitted_to: Mapping[str, tuple[int, int]] | None = None,
) -> Judged:
    return Judged.of(form, [table.sample.thinned(_JUDGED_ROWS, SEED)], values, number, fitted_to)
