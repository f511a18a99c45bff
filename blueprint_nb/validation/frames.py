"""Comparisons as polars frames: a row for each case, each component, each mode. Imports polars only when it is used."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

from .comparison import CaseComparison, ComponentComparison

if TYPE_CHECKING:
    import polars as pl


def case_frame(comparisons: Sequence[CaseComparison], baseline_revision: str) -> pl.DataFrame:
    """A row for each case and mode: what it is, coverage (a fraction), seconds of one block, errors (%), digests."""
    import polars as pl

    rows = [_case_row(one, baseline_revision) for one in comparisons]
    return pl.DataFrame(rows, schema=_case_schema(), orient="row")


def component_frame(comparisons: Sequence[CaseComparison]) -> pl.DataFrame:
    """A row for each component of each case and mode, in plan order; errors in percent, signed."""
    import polars as pl

    rows = [_component_row(one, component) for one in comparisons for component in one.components]
    return pl.DataFrame(rows, schema=_component_schema(), orient="row")


def mean_frame(comparisons: Sequence[CaseComparison], modes: Sequence[str]) -> pl.DataFrame:
    """A row for each of `modes`: means over the cases that have any matched component, and the worst of them."""
    import polars as pl

    rows = [_mean_row(comparisons, mode) for mode in modes]
    return pl.DataFrame(rows, schema=_mean_schema(), orient="row")


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
    compared = [one for one in of_mode if one.matched]
    subtotals = [abs(one.subtotal_error_percent or 0.0) for one in compared]
    return {
        "mode": mode,
        "case_count": len(of_mode),
        "compared_case_count": len(compared),
        "coverage": _mean([one.coverage for one in of_mode]),
        "subtotal_mape_percent": _mean(subtotals),
        "subtotal_max_percent": max(subtotals, default=None),
        "component_mape_percent": _mean([one.component_mape_percent or 0.0 for one in compared]),
        "component_max_percent": max((one.component_max_percent or 0.0 for one in compared), default=None),
    }


def _component_row(one: CaseComparison, component: ComponentComparison) -> dict[str, Any]:
    reference = component.reference
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
    }


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None


def _case_schema() -> dict[str, Any]:
    import polars as pl

    texts = ("case", "mode", "model", "hardware", "phase", "datatype")
    counts = ("tensor_parallel", "pipeline_parallel", "batch_size", "context_tokens", "component_count")
    figures = (
        "coverage",
        "block_seconds",
        "comparable_seconds",
        "reference_seconds",
        "excluded_seconds",
        "subtotal_error_seconds",
        "subtotal_error_percent",
        "component_mape_percent",
        "component_max_percent",
    )
    digests = ("model_digest", "distributed_digest", "portable_plan_digest", "bound_plan_digest")
    return {
        **dict.fromkeys(texts, pl.String()),
        **dict.fromkeys((*counts, "matched_count", "flagged_count"), pl.Int64()),
        **dict.fromkeys(figures, pl.Float64()),
        **dict.fromkeys(("topology_equivalence", *digests, "hardware_revision", "baseline_revision"), pl.String()),
    }


def _component_schema() -> dict[str, Any]:
    import polars as pl

    return {
        **dict.fromkeys(("case", "mode", "component", "primitive", "source_layer"), pl.String()),
        "in_block": pl.Boolean(),
        "state": pl.String(),
        **dict.fromkeys(("seconds", "reference_seconds", "error_seconds", "error_percent"), pl.Float64()),
        "samples": pl.Int64(),
        "spread_seconds": pl.Float64(),
        **dict.fromkeys(("operator", "reason", "note"), pl.String()),
    }


def _mean_schema() -> dict[str, Any]:
    import polars as pl

    figures = ("coverage", "subtotal_mape_percent", "subtotal_max_percent")
    return {
        "mode": pl.String(),
        **dict.fromkeys(("case_count", "compared_case_count"), pl.Int64()),
        **dict.fromkeys((*figures, "component_mape_percent", "component_max_percent"), pl.Float64()),
    }
