"""Decode steps as rows of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..analysis import Estimate
from ..analysis.bands import band_at, band_text
from ..thinning import kept_indices
from ..units import format_count, format_seconds, three_digits

NO_DECODE: Final = "There is no decode step: the one generated token comes from the prefill."
_SHOWN_STEPS: Final = 12
_SHOWN_DROPS: Final = 3


@dataclass(frozen=True, slots=True)
class StepRow:
    """One decode step, in words."""

    context: str
    seconds: str
    stack_seconds: str
    rate: str
    band: str
    """Of the step; empty where nobody knows."""
    digest: str
    note: str
    """What is special about it; empty for most."""


def step_rows(estimate: Estimate) -> list[StepRow]:
    """Up to a dozen decode steps: both ends, where an efficiency curve steps, evenly the rest."""
    around = [int(index) + shift for index in estimate.drop_indices[:_SHOWN_DROPS] for shift in (-1, 0)]
    kept = kept_indices(len(estimate.decode_contexts), _SHOWN_STEPS, around)
    batch = estimate.inputs.request.batch_size
    return [
        StepRow(
            context=format_count(row["context_tokens"]),
            seconds=format_seconds(row["seconds"]),
            stack_seconds=format_seconds(row["stack_seconds"]),
            rate=three_digits(batch / row["seconds"]),
            digest=row["plan_digest"][:12],
            band=band_text(band_at(estimate.decode_band, index), row["seconds"]),
            note="▼ efficiency step" if row["context_tokens"] in estimate.latency_drops else "",
        )
        for index, row in zip(kept, estimate.decode[kept].iter_rows(named=True), strict=True)
    ]
