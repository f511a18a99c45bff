"""Every legal TP × PP of this model, request and system: what fits, how fast, at what rate a device."""

from __future__ import annotations

import polars as pl

from blueprint_nb import Estimate
from blueprint_nb.analysis import RequestInputs, mapping_table
from blueprint_nb.mapping import TransformerInferenceMappingSpec
from blueprint_nb.report.charts import mapping_chart
from blueprint_nb.report.mapping_rows import MOST_DEVICES, MappingRow, mapping_rows

from .drawing import Drawing, Look, Tab
from .markup import table

_HEADINGS = {
    "tensor_parallel": "TP",
    "pipeline_parallel": "PP",
    "devices": "devices",
    "memory": "memory (GiB)",
    "fit": "fits",
    "prefill": "prefill",
    "decode": "decode step",
    "rate": "tokens/s",
    "device_rate": "tokens/s per device",
    "sequence_rate": "tokens/s per sequence",
}
_FIT_COLUMN = list(_HEADINGS).index("fit")


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
        metric = "decode_step_seconds" if estimate.has_decode else "prefill_seconds"
        rows = mapping_rows(frame, estimate.inputs)
        return Drawing(mapping_chart(frame, metric, chosen=chosen), _mappings_html(rows))

    def _table(self, inputs: RequestInputs) -> pl.DataFrame:
        anywhere = inputs.model_copy(update={"mapping": TransformerInferenceMappingSpec()})
        if anywhere != self._inputs:
            self._frame, self._inputs = mapping_table(anywhere, MOST_DEVICES), anywhere
        return self._frame


def _mappings_html(rows: list[MappingRow]) -> str:
    caption = f"{len(rows)} legal mappings of up to {MOST_DEVICES} devices, fewest devices first"
    cells = [[getattr(row, name) for name in _HEADINGS] for row in rows]
    marked = next((index for index, row in enumerate(rows) if row.is_chosen), None)
    return table(caption, list(_HEADINGS.values()), cells, text_columns=(_FIT_COLUMN,), marked_row=marked)
