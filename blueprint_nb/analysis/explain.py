"""How a component's time comes about, in the words of who priced it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from ..cost import LEARNED_RESIDUAL, ComponentActivity, ComponentCost, CostProvider, Origin
from ..units import format_count, format_seconds
from .estimate import Estimate
from .frames import BAND_COLUMNS, TERM_COLUMNS
from .priced_by import origin_of
from .providers import provider_for
from .step import Step, bound_of

if TYPE_CHECKING:
    import polars as pl


def explanation_of(estimate: Estimate, step: Step, component: ComponentActivity, cost: ComponentCost) -> str:
    """ "128 CTAs on 108 SMs: 2 waves, 59 % full; memory 31 µs; floor 2.1 µs"; "3 measurements, 1.2 µs apart".

    It is of one execution of a component of `step`; empty in the analytical modes. Raises as `provider_for`.
    """
    origin = origin_of(cost)
    if origin is None:
        return ""
    if origin.method in ("calibrated", LEARNED_RESIDUAL):
        inputs = estimate.inputs
        return _provider(estimate).explanation(component, step.costs.activity, inputs.system, inputs.network)
    return _measured(origin) if origin.method == "exact-evidence" else ""


def explained(estimate: Estimate, step: Step) -> pl.DataFrame:
    """A row for each component of `step`: see `Estimate.explain`."""
    import polars as pl

    rows = []
    for component, cost in step.costs.priced:
        origin = origin_of(cost)
        rows.append(
            {
                "component": component.component,
                "count": component.executions,
                "seconds": cost.seconds,
                **{name: None if cost.band is None else getattr(cost.band, name) for name in BAND_COLUMNS},
                "bound": bound_of(component, cost),
                **{f"{name}_seconds": term for name, term in _terms(cost).items()},
                "provider": None if origin is None else origin.provider,
                "match": None if origin is None else origin.match,
                "explanation": explanation_of(estimate, step, component, cost),
            }
        )
    ends = dict.fromkeys(BAND_COLUMNS, pl.Float64())
    frame = pl.from_dicts(rows, schema_overrides=ends, infer_schema_length=None)
    last = ("provider", "match", "explanation")
    return frame.select(pl.exclude(last), *last)


def _terms(cost: ComponentCost) -> Mapping[str, float]:
    """By the names of the form that made them; those that every mode has, where none did."""
    fields = {name.removesuffix("_seconds"): getattr(cost, name) for name in TERM_COLUMNS}
    return cost.terms or fields


def _measured(origin: Origin) -> str:
    count = f"{format_count(origin.samples)} {'measurement' if origin.samples == 1 else 'measurements'}"
    return count if origin.spread_seconds is None else f"{count}, {format_seconds(origin.spread_seconds)} apart"


@lru_cache(maxsize=1)
def _provider(estimate: Estimate) -> CostProvider:
    """Kept for the components of one estimate, which are explained one after the other."""
    return provider_for(estimate.inputs)
