"""Every legal TP × PP of this model, request and system: what fits, how fast, at what rate a device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from blueprint_nb import Estimate
from blueprint_nb.analysis import RequestInputs, mapping_table
from blueprint_nb.mapping import TransformerInferenceMappingSpec
from blueprint_nb.report.charts import mapping_chart
from blueprint_nb.units import format_count, format_gib, format_seconds, three_digits

from .drawing import Drawing, Look, Tab
from .markup import table

_HEADINGS = (
    "TP",
    "PP",
    "devices",
    "memory",
    "fits",
    "prefill",
    "decode step",
    "tokens/s",
    "tokens/s per device",
    "tokens/s per sequence",
)
_FITS_COLUMN = 4


class MappingTab(Tab):
    """The table is kept until something else than TP and PP changes, for it holds all of them."""

    title = "Mapping"

    def __init__(self) -> None:
        self._inputs: RequestInputs | None = None
        self._frame = pl.DataFrame()

    def draw(self, estimate: Estimate, look: Look) -> Drawing:
        """The heat map, and the table with the current mapping marked."""
        frame = self._table(estimate.inputs)
        mapping = estimate.inputs.mapping
        chosen = (mapping.tensor_parallel, mapping.pipeline_parallel)
        metric = "decode_step_seconds" if len(estimate.decode_contexts) else "prefill_seconds"
        return Drawing(mapping_chart(frame, metric, chosen=chosen), _mappings_html(frame, chosen))

    def _table(self, inputs: RequestInputs) -> pl.DataFrame:
        anywhere = inputs.model_copy(update={"mapping": TransformerInferenceMappingSpec()})
        if anywhere != self._inputs:
            self._frame, self._inputs = mapping_table(anywhere), anywhere
        return self._frame


def _mappings_html(frame: pl.DataFrame, chosen: tuple[int, int]) -> str:
    pairs = list(zip(frame["tensor_parallel"], frame["pipeline_parallel"], strict=True))
    marked = pairs.index(chosen) if chosen in pairs else None
    caption = f"{len(frame)} legal mappings of up to 64 devices, fewest devices first"
    rows = [_cells(row) for row in frame.iter_rows(named=True)]
    return table(caption, _HEADINGS, rows, text_columns=(_FITS_COLUMN,), marked_row=marked)


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    step = row["decode_step_seconds"]
    return (
        format_count(row["tensor_parallel"]),
        format_count(row["pipeline_parallel"]),
        format_count(row["devices"]),
        format_gib(row["total_bytes"]),
        "✓ fits" if row["fits"] else "✕ no",
        format_seconds(row["prefill_seconds"]),
        "–" if step is None else format_seconds(step),
        three_digits(row["tokens_per_second"]),
        three_digits(row["tokens_per_second_per_device"]),
        three_digits(row["tokens_per_second_per_sequence"]),
    )
