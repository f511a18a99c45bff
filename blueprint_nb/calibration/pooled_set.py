"""One set for any device: every family fitted over all GPUs of both sources at once, and asked about GPUs left out.

Each source's table of a GPU is a sample of its own, with the figures of its own device and link, and all weigh the
same; rows of two sources are never taken for measurements of one thing. A GPU is left out with the tables that all
sources have of it, on any board. Residuals are those of GPUs that were left out, so a band says what an unseen GPU may
bring. Of attention, which has a kernel for each generation, the one form is taken that errs least on GPUs left out.
8-bit GEMMs are a family of their own, as they are of a device.
Errors are told of one row a shape, at most 1,500 a table, drawn so that each octave of size (from one power of two to
the next) comes as often: a table of 36,000 rows weighs no more than one of 2,000.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from ..catalog import load_system
from ..cost.calibration import CalibrationSet, FamilyFit, OctaveResiduals
from ..cost.families import (
    HOST_LINK,
    AttentionDecode,
    AttentionPrefill,
    Collective,
    Family,
    Link,
    is_through_host,
    link_of,
)
from ..cost.families.collective import COLLECTIVES
from ..evidence.observations import SOURCE_KEY
from .errors import Judged, error_figures
from .fit import OPTIMISER, SEED, fit, start_pool
from .fitting import START_STRENGTH, rounded
from .gpus import GPUS, names_by_year
from .observed import FormOf, samples_of, system_of
from .residuals import HeldOutResiduals, held_out_residuals
from .run import Progress, nothing_to_fit
from .sample import Sample
from .starts import starts_of
from .study import Study, digest, family_fits, names, of, ranges

if TYPE_CHECKING:
    import polars as pl

NAME: Final = "pooled"
HELD_OUT_GPU: Final = "leave-one-GPU-out"
HELD_OUT_LATER: Final = "earlier generations to a later one"

_UNSEEN: Final = 2.0
"""An estimate: so many times as far, in logarithms, does a band reach that one GPU's own rows make of another's."""

_ACROSS: Final = ", across boxes"
"""Ends the name of what stands for a network between boxes: it is asked about, but parameters are of one box."""

_GENERATIONS: Final = names_by_year()
"""Of GPUs, by year."""

_ROWS: Final = 500
"""Of each sample that a fit sees."""

_ATTENTION_ROWS: Final = 250
_JUDGED_ROWS: Final = 1500
"""Of each sample that errors are told of."""

_OUTLIER: Final = ("gemm:float8", "b200_sxm", 1)
"""Key, device and m of rows that are left out: that table times one token 13 µs above two in the median, as no other
does, and these rows alone would make the band of one token on any device."""

_KERNELS: Final = ("flash_attention_2", "generic")
"""Forms of attention that are tried."""


_Gpus = tuple[tuple[str, ...], tuple[str, ...]]
"""Those that are fitted to, those that are held out."""


@dataclass(frozen=True, eq=False)
class _Table:
    """One source's kernels of one family on one device."""

    gpu: str
    sample: Sample
    rows: pl.DataFrame


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A form with its tables, and what it was worth on what it did not see."""

    form: Family
    tables: Sequence[_Table]
    held_out: Mapping[str, Judged]


@dataclass(frozen=True, eq=False)
class PooledFamily:
    """A family's rows of all devices and sources."""

    name: str
    studies: tuple[Study, ...]

    @property
    def is_of_one_gpu(self) -> bool:
        """Whether one GPU was measured, links between boxes left aside: none can be left out."""
        gpus = {_gpu(study, target) for study in self.studies for target in names(study.rows, "target")}
        return len({gpu for gpu in gpus if not gpu.endswith(_ACROSS)}) == 1 and "@" in self.studies[0].key

    @property
    def steps(self) -> int:
        """How often `pooled_set` tells its progress."""
        if self.is_of_one_gpu:
            return sum(study.steps for study in self.studies if not _is_across(study))
        gpus = {_gpu(study, target) for study in self.studies for target in names(study.rows, "target")}
        return len(_forms(self)) * (len(gpus) + len(_GENERATIONS) - 1) + 1


def pooled_families(studies: Iterable[Study]) -> list[PooledFamily]:
    """By key, of the studies of all sources: kernels of 16 bits together, those of a datatype of their own apart."""
    found: dict[str, list[Study]] = {}
    for study in studies:
        kind, _, link = study.key.partition("@")
        name = f"{kind}@{HOST_LINK}" if is_through_host(link) else kind
        found.setdefault(name, []).append(_without_outlier(study))
    return [PooledFamily(name, tuple(of_name)) for name, of_name in sorted(found.items())]


def pooled_set(families: Sequence[PooledFamily], progress: Progress) -> CalibrationSet:
    """The set that prices any device.

    Raises `InvalidInputError` where nothing can be fitted, `MissingExtraError` without scipy.
    """
    import polars as pl

    if not families:
        raise nothing_to_fit()
    studies = [study for family in families for study in family.studies]
    rows = pl.concat([study.rows.select(SOURCE_KEY).unique() for study in studies])
    models = {name for study in studies for name in names(study.rows, "model") if name}
    return CalibrationSet(
        name=NAME,
        target="",
        systems=(),
        source=", ".join(names(rows, "source")),
        source_revision=", ".join(names(rows, "source_revision")),
        software=", ".join(names(rows, "software")),
        software_version=", ".join(name for name in names(rows, "software_version") if name),
        models=tuple(sorted(models)),
        seed=SEED,
        optimiser=OPTIMISER,
        families={family.name: _family_fit(family, progress) for family in families},
    )


def _without_outlier(study: Study) -> Study:
    """The study without rows that are no measure of other devices."""
    import polars as pl

    key, target, m = _OUTLIER
    if study.key != key:
        return study
    return replace(study, rows=study.rows.filter((pl.col("target") != target) | (pl.col("m") != m)))


def _one_gpu_fit(family: PooledFamily, progress: Progress) -> FamilyFit:
    """Of the one GPU that was measured, in one box, which says little of another.

    Its band is at least twice as wide as on ranks or rows that it did not see; what it holds of another GPU nobody
    knows.
    """
    study = next(one for one in family.studies if not _is_across(one))
    (fit,) = family_fits(study, None, progress).values()
    return fit.model_copy(update={"link": None, "residuals": _for_unseen_gpus(fit.residuals), "coverage_percent": None})


def _for_unseen_gpus(residuals: Sequence[OctaveResiduals]) -> tuple[OctaveResiduals, ...]:
    widened = []
    for one in residuals:
        reach = _UNSEEN * max(near.reach for near in residuals if abs(near.octave - one.octave) <= 2)
        by = one.widened + reach - one.reach
        widened.append(one.model_copy(update={"reach": round(reach, 5), "widened": round(by, 5)}))
    return tuple(widened)


def _family_fit(family: PooledFamily, progress: Progress) -> FamilyFit:
    if family.is_of_one_gpu:
        return _one_gpu_fit(family, progress)
    candidates = [_candidate(family, form, progress) for form in _forms(family)]
    best = min(candidates, key=_unseen_error)
    tables = [table for table in best.tables if not table.gpu.endswith(_ACROSS)] or list(best.tables)
    values = _values(best.form, tables)
    progress(f"{family.name}, all GPUs")
    seen = Judged.joined([_judged(best.form, table, values, 0) for table in tables])
    unseen = best.held_out.get(HELD_OUT_GPU)
    residuals = HeldOutResiduals() if unseen is None else held_out_residuals(unseen, seen)
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
    tables = [table for study in family.studies for table in _tables(study, form)]
    gpus = sorted({table.gpu for table in tables})
    later = [(tuple(chain(*_GENERATIONS[:at])), _GENERATIONS[at]) for at in range(1, len(_GENERATIONS))]
    splits: dict[str, list[_Gpus]] = {
        HELD_OUT_GPU: [(tuple(gpu for gpu in gpus if gpu != out), (out,)) for out in gpus],
        HELD_OUT_LATER: later,
    }
    held_out = {}
    for label, parts in splits.items():
        judged = [
            one for number, part in enumerate(parts) for one in _part(form, tables, part, number, family.name, progress)
        ]
        if judged:
            held_out[label] = Judged.joined(judged)
    return _Candidate(form, tables, held_out)


def _part(
    form: Family,
    tables: Sequence[_Table],
    part: _Gpus,
    number: int,
    name: str,
    progress: Progress,
) -> list[Judged]:
    """What the tables of some GPUs say of those of others."""
    known = [table for table in tables if table.gpu in part[0]]
    asked = [table for table in tables if table.gpu in part[1]]
    judged = []
    if known and asked:
        values = _values(form, known)
        judged = [_judged(form, table, values, number) for table in asked]
    progress(f"{name}, {', '.join(part[1])} out")
    return judged


def _values(form: Family, tables: Sequence[_Table]) -> dict[str, float]:
    samples = [table.sample for table in tables]
    starts = starts_of(form, samples)
    rows = _ATTENTION_ROWS if isinstance(form, (AttentionDecode, AttentionPrefill)) else _ROWS
    found = fit(form, samples, starts=starts, pool=start_pool(form, START_STRENGTH), rows=rows).values
    return {name: rounded(value) for name, value in found.items()}


def _judged(form: Family, table: _Table, values: Mapping[str, float], number: int) -> Judged:
    return Judged.of(form, [table.sample.thinned(_JUDGED_ROWS, SEED)], values, number)


def _tables(study: Study, form: Family) -> list[_Table]:
    tables = []
    for target in names(study.rows, "target"):
        rows = of(study.rows, "target", target)
        over = Collective(form.name, study.link) if study.link else form
        gpu = _gpu(study, target)
        tables += [_Table(gpu, sample, rows) for sample in samples_of(rows, form, _always(over))]
    return tables


def _always(form: Family) -> FormOf:
    return lambda _: form


def _is_across(study: Study) -> bool:
    """Whether it is of a network between boxes."""
    return any(_gpu(study, target).endswith(_ACROSS) for target in names(study.rows, "target"))


def _gpu(study: Study, target: str) -> str:
    """What is left out together; a network between boxes apart from that of the GPU's own box."""
    system = load_system(system_of(str(study.rows["source"][0]), target))
    across = study.key.endswith(f"@{system.network[-1].name}")
    name = GPUS[system.name].name
    return f"{name}{_ACROSS}" if across else name


def _forms(family: PooledFamily) -> list[Family]:
    name = family.name
    if name == AttentionDecode.name:
        return [AttentionDecode(kernel) for kernel in _KERNELS]
    if name == AttentionPrefill.name:
        return [AttentionPrefill(kernel) for kernel in _KERNELS]
    if name in COLLECTIVES:
        return [Collective(name, _any_link())]
    return list(family.studies[0].forms)


def _any_link() -> Link:
    """Stands for a collective's link, which each sample has its own of."""
    return link_of(load_system("a100_80g_sxm").network[0])
