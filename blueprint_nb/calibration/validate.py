"""Validation: what the calibrated forms are worth on kernels that they never saw, beside the bars to beat.

Every study's splits are gone through part by part: each predictor learns from what is left and is asked about what is
held out, each row alone. Collectives have no roofline and therefore no bars, so they are left out: what they are worth
stands in the parameter files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..cost.residual_layer import BANDWIDTHS
from ..errors import InvalidInputError, one_of
from .bars import BARS
from .bars_work import WORK_FAMILIES
from .predict import Once, Predictor
from .predict_calibrated import CALIBRATED, Calibrated
from .predict_learned import LEARNED, LearnedResidual
from .study import Part, Progress, Study, digest
from .validate_bands import banded, block_bands, coverage
from .validate_blocks import block_rows, subtotals
from .validate_figures import errors, octaves
from .validate_rows import held_out_rows
from .validate_splits import WITH_LEARNED, splits_of

if TYPE_CHECKING:
    import polars as pl

_Known = dict[tuple[str, str, str, bool], "pl.DataFrame"]
"""Study, rows to learn from and rows held out, by their digests, and whether a layer learned, to what came of them."""

__all__ = ["Validation", "split_names", "steps", "validate"]


@dataclass(frozen=True, eq=False)
class Validation:
    """Frames of what was held out and how far off each predictor was; seconds, and percent of what was measured."""

    predictors: tuple[str, ...]
    """The calibrated forms first, then, where a split has it, the learned residual upon them."""
    rows: pl.DataFrame
    """Every held-out row (see `held_out_rows`) with its split, and low_seconds, high_seconds and correlation of the
    calibrated forms (see `banded`)."""
    blocks: pl.DataFrame
    """Every held-out block (see `block_rows`)."""
    errors: pl.DataFrame
    """By split, target, family and predictor (see `validate_figures.errors`)."""
    octaves: pl.DataFrame
    """By split, target, family, octave and predictor (see `validate_figures.octaves`)."""
    subtotals: pl.DataFrame
    """By split, target and predictor (see `validate_blocks.subtotals`)."""
    coverage: pl.DataFrame
    """Of the 90 % band, by split, target and family (see `validate_bands.coverage`)."""

    @property
    def splits(self) -> list[str]:
        """In their order."""
        return [str(name) for name in self.errors["split"].unique(maintain_order=True)]

    def to_dict(self) -> dict[str, Any]:
        """Figures without single rows, as lists of records."""
        names = ("errors", "octaves", "subtotals", "coverage")
        frames: dict[str, pl.DataFrame] = {name: getattr(self, name) for name in names}
        return {"predictors": list(self.predictors), **{name: frame.to_dicts() for name, frame in frames.items()}}


def split_names(studies: Sequence[Study]) -> tuple[str, ...]:
    """Of all splits that the studies can be put through, in their order."""
    return tuple(dict.fromkeys(name for study in _with_bars(studies) for name in splits_of(study)))


def steps(studies: Sequence[Study], splits: Sequence[str] | None = None) -> int:
    """How often `validate` tells its progress."""
    return sum(len(parts) for _, _, parts in _plan(studies, splits))


def validate(
    studies: Sequence[Study],
    *,
    bars: Sequence[Predictor] = BARS,
    splits: Sequence[str] | None = None,
    progress: Progress = lambda _: None,
) -> Validation:
    """Each split of each study, or those of `splits` alone; of a study with several forms the first.

    Raises `InvalidInputError` where nothing can be held out, `UnknownNameError` for a split that no study has,
    `MissingExtraError` without what a predictor needs.
    """
    import polars as pl

    known: _Known = {}
    has_layer = any(study.forms[0].name in BANDWIDTHS for study in studies)
    found = []
    for study, split, parts in _plan(studies, splits):
        of_split = []
        for part in parts:
            of_split.append(_part_rows(study, part, has_layer and split in WITH_LEARNED, bars, known))
            progress(f"{study.key}, {split}: {part[0]}")
        with_bands = banded(pl.concat(of_split), joins_residuals=study.joins_residuals)
        found.append(with_bands.with_columns(split=pl.lit(split)))
    if not found:
        raise InvalidInputError(
            "observations", got="none that can be held out", rule="must hold a family's rows of two models or devices"
        )
    rows: pl.DataFrame = pl.concat(found, how="diagonal_relaxed")
    names = tuple(name for name in (CALIBRATED, LEARNED, *(bar.name for bar in bars)) if name in rows.columns)
    blocks = block_rows(rows, names)
    return Validation(
        predictors=names,
        rows=rows,
        blocks=blocks,
        errors=errors(rows, names),
        octaves=octaves(rows, names),
        subtotals=subtotals(blocks, names),
        coverage=coverage(rows, block_bands(rows, blocks)),
    )


def _part_rows(study: Study, part: Part, with_layer: bool, bars: Sequence[Predictor], known: _Known) -> pl.DataFrame:
    """The part's rows, from `known` where another split held the very same rows out of the very same others."""
    import polars as pl

    held_out, train, test = part
    key = (study.key, digest(train), digest(test), with_layer)
    if key not in known:
        calibrated = Once(Calibrated(study.fitting))
        layers = (LearnedResidual(calibrated),) if with_layer else ()
        known[key] = held_out_rows(study.forms[0], part, (calibrated, *layers, *bars))
    return known[key].with_columns(held_out=pl.lit(held_out))


def _plan(studies: Sequence[Study], splits: Sequence[str] | None) -> list[tuple[Study, str, Sequence[Part]]]:
    """Study, split, parts: split by split."""
    wanted = split_names(studies)
    if splits is not None:
        wanted = tuple(one_of("split", name, wanted) for name in splits)
    by_study = [(study, splits_of(study)) for study in _with_bars(studies)]
    return [(study, name, found[name]) for name in wanted for study, found in by_study if name in found]


def _with_bars(studies: Sequence[Study]) -> list[Study]:
    return [study for study in studies if study.forms[0].name in WORK_FAMILIES]
