"""What a pool is made of: a family's studies of all sources, each table of one device with the figures of its own.

Each source's table of a GPU is a sample of its own, with the figures of its own device and link; rows of two sources
are never taken for measurements of one thing. 8-bit GEMMs are a family of their own, as they are of a device.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ..catalog import load_system
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
from .gpus import GPUS
from .observed import FormOf, samples_of, system_of
from .sample import Sample
from .study import Study, names, of

if TYPE_CHECKING:
    import polars as pl

ACROSS: Final = ", across boxes"
"""Ends the name of what stands for a network between boxes: it is asked about, but parameters are of one box."""

_OUTLIER: Final = ("gemm:float8", "b200_sxm", 1)
"""Key, device and m of rows that are left out: that table times one token 13 µs above two in the median, as no other
does, and these rows alone would make the band of one token on any device."""

_KERNELS: Final = ("flash_attention_2", "generic")
"""Forms of attention that are tried."""


@dataclass(frozen=True, eq=False)
class Table:
    """One source's kernels of one family on one device."""

    gpu: str
    sample: Sample
    rows: pl.DataFrame


@dataclass(frozen=True, eq=False)
class PooledFamily:
    """A family's rows of all devices and sources."""

    name: str
    studies: tuple[Study, ...]

    @property
    def is_of_one_gpu(self) -> bool:
        """Whether one GPU was measured, links between boxes left aside: none can be left out."""
        return len([gpu for gpu in self.gpus if not gpu.endswith(ACROSS)]) == 1 and "@" in self.studies[0].key

    @property
    def gpus(self) -> list[str]:
        """Sorted: what is left out together; a network between boxes apart from that of the GPU's own box."""
        return sorted({gpu_of(study, target) for study in self.studies for target in names(study.rows, "target")})

    @property
    def models(self) -> list[str]:
        """Sorted, of a family all of whose rows are of one source that timed several; else none."""
        (study, *others) = self.studies
        models = names(study.rows, "model")
        return models if len(models) > 1 and not others else []

    @property
    def forms(self) -> list[Family]:
        """That are tried: of collectives one over any link, which each table has its own of."""
        if self.name == AttentionDecode.name:
            return [AttentionDecode(kernel) for kernel in _KERNELS]
        if self.name == AttentionPrefill.name:
            return [AttentionPrefill(kernel) for kernel in _KERNELS]
        if self.name in COLLECTIVES:
            return [Collective(self.name, _any_link())]
        return list(self.studies[0].forms)

    def tables(self, form: Family) -> list[Table]:
        """Of all studies."""
        return [table for study in self.studies for table in tables_of(study, form)]


def pooled_families(studies: Iterable[Study]) -> list[PooledFamily]:
    """By key, of the studies of all sources: kernels of 16 bits together, those of a datatype of their own apart."""
    found: dict[str, list[Study]] = {}
    for study in studies:
        kind, _, link = study.key.partition("@")
        name = f"{kind}@{HOST_LINK}" if is_through_host(link) else kind
        found.setdefault(name, []).append(_without_outlier(study))
    return [PooledFamily(name, tuple(of_name)) for name, of_name in sorted(found.items())]


def tables_of(study: Study, form: Family) -> list[Table]:
    """Of each device of a study, sorted."""
    tables = []
    for target in names(study.rows, "target"):
        rows = of(study.rows, "target", target)
        over = Collective(form.name, study.link) if study.link else form
        gpu = gpu_of(study, target)
        tables += [Table(gpu, sample, rows) for sample in samples_of(rows, form, _always(over))]
    return tables


def gpu_of(study: Study, target: str) -> str:
    """The GPU of a device; of a network between boxes with `ACROSS`."""
    system = load_system(system_of(str(study.rows["source"][0]), target))
    across = study.key.endswith(f"@{system.network[-1].name}")
    name = GPUS[system.name].name
    return f"{name}{ACROSS}" if across else name


def is_across(study: Study) -> bool:
    """Whether it is of a network between boxes."""
    return any(gpu_of(study, target).endswith(ACROSS) for target in names(study.rows, "target"))


def _without_outlier(study: Study) -> Study:
    """The study without rows that are no measure of other devices."""
    import polars as pl

    key, target, m = _OUTLIER
    if study.key != key:
        return study
    return replace(study, rows=study.rows.filter((pl.col("target") != target) | (pl.col("m") != m)))


def _always(form: Family) -> FormOf:
    return lambda _: form


def _any_link() -> Link:
    """Stands for a collective's link, which each sample has its own of."""
    return link_of(load_system("a100_80g_sxm").network[0])
