"""What the shipped parameter files record of their own errors: for where the measurements are not at hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..catalog import profiles_folder, read_record
from ..cost.calibration import CalibrationSet, FamilyFit, OctaveResiduals

if TYPE_CHECKING:
    import polars as pl

IN_SAMPLE: Final = "in sample"
"""Stands in the place of a split."""

ANY_SYSTEM: Final = "any"
"""Stands in the place of a system, for a set that prices any."""


def recorded_sets() -> list[CalibrationSet]:
    """Every set that ships with the project, by name and system. Raises `ProfileError` for a file that is damaged."""
    paths = sorted((profiles_folder() / "calibration").glob("**/*.json"))
    sets = [read_record(path, CalibrationSet) for path in paths]
    return sorted(sets, key=lambda one: (one.name, one.systems))


def recorded_errors(sets: Iterable[CalibrationSet]) -> pl.DataFrame:
    """For each calibration, system, family and split (and `IN_SAMPLE`): rows, mape_percent, balanced_mape_percent,
    p90_percent and max_percent, as `ErrorFigures` says them.
    """
    import polars as pl

    found = [
        {**place, "split": split, **figures.model_dump()}
        for place, fit in _fits(sets)
        for split, figures in {IN_SAMPLE: fit.in_sample, **fit.held_out}.items()
    ]
    texts = dict.fromkeys(("calibration", "system", "family", "split"), pl.String())
    numbers = dict.fromkeys(("mape_percent", "balanced_mape_percent", "p90_percent", "max_percent"), pl.Float64())
    return pl.DataFrame(found, schema={**texts, "rows": pl.Int64(), **numbers})


def recorded_octaves(sets: Iterable[CalibrationSet]) -> pl.DataFrame:
    """For each calibration, system, family and octave of size: rows, low_percent, middle_percent and high_percent.

    They say where measured times lie about an estimate of 100 %: nine of ten of those that were held out from low to
    high, half of them above the middle.
    """
    import polars as pl

    found = [{**place, **_octave(octave)} for place, fit in _fits(sets) for octave in fit.residuals]
    texts = dict.fromkeys(("calibration", "system", "family"), pl.String())
    counts = dict.fromkeys(("octave", "rows"), pl.Int64())
    numbers = dict.fromkeys(("low_percent", "middle_percent", "high_percent"), pl.Float64())
    return pl.DataFrame(found, schema={**texts, **counts, **numbers})


def recorded_bands(sets: Iterable[CalibrationSet]) -> pl.DataFrame:
    """For each calibration, system and family with held-out rows: rows, width_percent (of the band, over the estimate,
    mean over rows), covered_percent (of rows of one part, by what the others say; None where nothing tells) and
    correlation (of the errors of different components in one step).
    """
    import polars as pl

    found = [
        {**place, **_band(fit.residuals), "covered_percent": fit.coverage_percent, "correlation": fit.correlation}
        for place, fit in _fits(sets)
        if fit.residuals
    ]
    texts = dict.fromkeys(("calibration", "system", "family"), pl.String())
    numbers = dict.fromkeys(("width_percent", "covered_percent", "correlation"), pl.Float64())
    return pl.DataFrame(found, schema={**texts, "rows": pl.Int64(), **numbers})


def _fits(sets: Iterable[CalibrationSet]) -> Iterator[tuple[dict[str, str], FamilyFit]]:
    for one in sets:
        for family, fit in one.families.items():
            yield {"calibration": one.name, "system": next(iter(one.systems), ANY_SYSTEM), "family": family}, fit


def _octave(one: OctaveResiduals) -> dict[str, Any]:
    places = {"low": -one.reach, "middle": one.middle, "high": one.reach}
    percents = {f"{name}_percent": 100.0 * float(np.exp(place)) for name, place in places.items()}
    return {"octave": one.octave, "rows": one.rows, **percents}


def _band(residuals: Sequence[OctaveResiduals]) -> dict[str, Any]:
    rows = np.array([one.rows for one in residuals])
    widths = np.array([2.0 * np.sinh(one.reach) for one in residuals])
    return {"rows": int(rows.sum()), "width_percent": 100.0 * float(widths @ rows / rows.sum())}
