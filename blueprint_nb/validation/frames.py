"""Comparisons as polars frames: a row for each case, each component, each mode. Imports polars only when it is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any, Final

from .comparison import CaseComparison, ComponentComparison

if TYPE_CHECKING:
    import polars as pl

# Figures that are missing where nothing is covered: a column of nulls alone has no type to be inferred.
_CASE_FIGURES: Final = (
    "subtotal_error_seconds",
    "subtotal_error_percent",
    "component_mape_percent",
    "component_max_percent",
    "in_band_share",
    "subtotal_low_seconds",
    "subtotal_high_seconds",
)
_COMPONENT_FIGURES: Final = (
    "reference_seconds",
    "error_seconds",
    "error_percent",
    "spread_seconds",
    "low_seconds",
    "high_seconds",
)
_MEAN_FIGURES: Final = (
    "subtotal_mape_percent",
    "subtotal_max_percent",
    "component_mape_percent",
    "component_max_percent",
    "in_band_share",
    "subtotal_in_band_share",
)


def case_frame(comparisons: Sequence[CaseComparison], baseline_revision: str) -> pl.DataFrame:
    """A row for each case and mode; columns as of `VidurExperimentReport.cases`."""
    import polars as pl

    rows = [_case_row(one, baseline_revision) for one in comparisons]
    return _frame(rows, {**dict.fromkeys(_CASE_FIGURES, pl.Float64), "subtotal_in_band": pl.Boolean})


def component_frame(comparisons: Sequence[CaseComparison]) -> pl.DataFrame:
    """A row for each component of each case and mode; columns as of `VidurExperimentReport.components`."""
    import polars as pl

    rows = [_component_row(one, component) for one in comparisons for component in one.components]
    nullable = {**dict.fromkeys(_COMPONENT_FIGURES, pl.Float64), "operator": pl.String, "in_band": pl.Boolean}
    return _frame(rows, nullable)


def mean_frame(comparisons: Sequence[CaseComparison], modes: Sequence[str]) -> pl.DataFrame:
    """A row for each of `modes`: coverage over all its cases, all else over those with a matched component.

    Columns as of `VidurExperimentReport.means`.
    """
    import polars as pl

    rows = [_mean_row(comparisons, mode) for mode in modes]
    return _frame(rows, dict.fromkeys(_MEAN_FIGURES, pl.Float64))


def _frame(rows: Sequence[dict[str, Any]], nullable: Mapping[str, Any]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(rows, schema_overrides=nullable, infer_schema_length=None)


def _case_row(one: CaseComparison, baseline_revision: str) -> dict[str, Any]:
    case, digests = one.frozen.case, one.frozen.digests
    return {
        "case": case.name,
        "mode": one.mode,
        "model": case.model.name,
        "hardware": case.hardware.name,
        "phase": str(case.phase),
        "datatype": case.datatype,
        "tensor_parallel": case.mapping.tensor_parallel,
        "pipeline_parallel": case.mapping.pipeline_parallel,
        "batch_size": case.batch_size,
        "context_tokens": case.context_tokens,
        "component_count": len(one.in_block),
        "matched_count": len(one.matched),
        "flagged_count": one.flagged_count,
        "coverage": one.coverage,
        "block_seconds": one.estimate.block_seconds,
        "comparable_seconds": one.comparable_seconds,
        "reference_seconds": one.reference_seconds,
        "excluded_seconds": one.excluded_seconds,
        "subtotal_error_seconds": one.subtotal_error_seconds,
        "subtotal_error_percent": one.subtotal_error_percent,
        "component_mape_percent": one.component_mape_percent,
        "component_max_percent": one.component_max_percent,
        "band_count": len(one.in_bands),
        "in_band_share": share(one.in_bands),
        "subtotal_low_seconds": None if one.subtotal_band is None else one.subtotal_band.low_seconds,
        "subtotal_high_seconds": None if one.subtotal_band is None else one.subtotal_band.high_seconds,
        "subtotal_in_band": one.subtotal_in_band,
        "topology_equivalence": one.topology_equivalence,
        "model_digest": digests.model,
        "distributed_digest": digests.distributed,
        "portable_plan_digest": digests.portable_plan,
        "bound_plan_digest": digests.bound_plan,
        "hardware_revision": digests.hardware_revision,
        "baseline_revision": baseline_revision,
    }


def _mean_row(comparisons: Sequence[CaseComparison], mode: str) -> dict[str, Any]:
    of_mode = [one for one in comparisons if one.mode == mode]
    subtotals = [abs(error) for error in _present(one.subtotal_error_percent for one in of_mode)]
    in_bands = [is_in for one in of_mode for is_in in one.in_bands]
    subtotal_in_bands = [one.subtotal_in_band for one in of_mode if one.subtotal_in_band is not None]
    return {
        "mode": mode,
        "case_count": len(of_mode),
        "compared_case_count": len(subtotals),
        "coverage": _mean([one.coverage for one in of_mode]),
        "subtotal_mape_percent": _mean(subtotals),
        "subtotal_max_percent": max(subtotals, default=None),
        "component_mape_percent": _mean(_present(one.component_mape_percent for one in of_mode)),
        "component_max_percent": max(_present(one.component_max_percent for one in of_mode), default=None),
        "band_count": len(in_bands),
        "in_band_share": share(in_bands),
        "subtotal_in_band_share": share(subtotal_in_bands),
    }


def _component_row(one: CaseComparison, component: ComponentComparison) -> dict[str, Any]:
    reference, band, origin = component.reference, component.band, component.origin
    return {
        "case": one.frozen.case.name,
        "mode": one.mode,
        "component": reference.component,
        "primitive": component.primitive,
        "source_layer": component.source_layer,
        "in_block": component.in_block,
        "state": reference.state,
        "seconds": component.seconds,
        "reference_seconds": reference.seconds,
        "error_seconds": component.error_seconds,
        "error_percent": component.error_percent,
        "samples": reference.samples,
        "spread_seconds": reference.spread_seconds,
        "operator": reference.operator,
        "reason": reference.reason,
        "note": reference.note,
        "low_seconds": None if band is None else band.low_seconds,
        "high_seconds": None if band is None else band.high_seconds,
        "in_band": component.in_band,
        "provider": one.estimate.costs.provider if origin is None else origin.provider,
        "revision": one.estimate.costs.system_revision if origin is None else origin.revision,
        "match": "" if origin is None else origin.match,
    }


def share(in_bands: Sequence[bool]) -> float | None:
    """Of bands that hold what was measured, a fraction; None of no band."""
    return sum(in_bands) / len(in_bands) if in_bands else None


def _present(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None
