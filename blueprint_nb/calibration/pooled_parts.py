"""What is held out of a pool: a GPU with all tables of it, on any board; all of a later generation; a GPU with a model.

The last is of families that one source timed whole models of: on a GPU that nobody measured, widths that nobody timed.
Rows that are held out of one GPU count as one part, whatever the model: they err alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from ..cost.families import Family
from .gpus import names_by_year
from .pooled_families import PooledFamily, Table, tables_of
from .splits import leave_one_model_out

HELD_OUT_GPU: Final = "leave-one-GPU-out"
HELD_OUT_LATER: Final = "earlier generations to a later one"
HELD_OUT_BOTH: Final = "leave-one-GPU-and-one-model-out, shared shapes purged"

_GENERATIONS: Final = names_by_year()
"""Of GPUs, by year."""


@dataclass(frozen=True, eq=False)
class PooledPart:
    """Tables that are fitted to, tables that are held out."""

    name: str
    number: int
    """Of what counts as one part."""
    known: list[Table]
    asked: list[Table]


def pooled_parts(family: PooledFamily, form: Family) -> Iterator[tuple[str, PooledPart]]:
    """(split, part) of every split; tables may be none."""
    tables = family.tables(form)
    for number, out in enumerate(family.gpus):
        others = [gpu for gpu in family.gpus if gpu != out]
        yield HELD_OUT_GPU, PooledPart(out, number, _of(tables, others), _of(tables, [out]))
        yield from ((HELD_OUT_BOTH, part) for part in _with_a_model(family, form, number))
    for at in range(1, len(_GENERATIONS)):
        earlier, later = list(chain(*_GENERATIONS[:at])), _GENERATIONS[at]
        yield HELD_OUT_LATER, PooledPart(", ".join(later), at, _of(tables, earlier), _of(tables, later))


def count_of_parts(family: PooledFamily) -> int:
    """Of `pooled_parts`, for one form."""
    return len(family.gpus) * (1 + len(family.models)) + len(_GENERATIONS) - 1


def _with_a_model(family: PooledFamily, form: Family, number: int) -> Iterator[PooledPart]:
    """A GPU's kernels of each model: from those of other GPUs and models, which share no shape with it."""
    if not family.models:
        return
    (study,) = family.studies
    out = family.gpus[number]
    others = [gpu for gpu in family.gpus if gpu != out]
    for model, train, test in leave_one_model_out(study.rows, form.name):
        known, asked = (tables_of(replace(study, rows=rows), form) for rows in (train, test))
        yield PooledPart(f"{out} and {model}", number, _of(known, others), _of(asked, [out]))


def _of(tables: Iterable[Table], gpus: Sequence[str]) -> list[Table]:
    return [table for table in tables if table.gpu in gpus]
