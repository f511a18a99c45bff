"""Decode steps as rows of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..analysis import Estimate
from ..analysis.bands import band_at, band_text
from ..analysis.falls import falls_of
from ..analysis.rates import rate_text, ratio
from ..thinning import kept_indices
from ..units import format_count, format_seconds

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
    """Up to a dozen decode steps: both ends, the first at which time falls, evenly the rest."""
    around = [int(index) + shift for index in estimate.drop_indices[:_SHOWN_DROPS] for shift in (-1, 0)]
    kept = kept_indices(len(estimate.decode_contexts), _SHOWN_STEPS, around)
    falls = {one.context_tokens: one for one in falls_of(estimate, np.intersect1d(kept, estimate.drop_indices))}
    batch = estimate.inputs.request.batch_size
    return [
        StepRow(
            context=format_count(row["context_tokens"]),
            seconds=format_seconds(row["seconds"]),
            stack_seconds=format_seconds(row["stack_seconds"]),
            rate=rate_text(ratio(batch, row["seconds"])),
            digest=row["plan_digest"][:12],
            band=band_text(band_at(estimate.decode_band, index), row["seconds"]),
            note=f"▼ {fall.label}" if (fall := falls.get(row["context_tokens"])) else "",
        )
        for index, row in zip(kept, estimate.decode[kept].iter_rows(named=True), strict=True)
    ]
