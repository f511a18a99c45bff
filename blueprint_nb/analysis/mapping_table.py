"""Every legal TP × PP of a request, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .inputs import RequestInputs
from .memory_search import candidate_mappings
from .request import estimate_request

if TYPE_CHECKING:
    import polars as pl

_MAY_BE_MISSING: Final = (
    "decode_step_seconds",
    "tokens_per_second",
    "tokens_per_second_per_device",
    "tokens_per_second_per_sequence",
)


def mapping_table(inputs: RequestInputs, most_devices: int = 64) -> pl.DataFrame:
    """A row for each legal (TP, PP) of up to `most_devices`, fewest devices first, then the larger TP.

    Columns: tensor_parallel, pipeline_parallel, devices (int64), fits (bool), total_bytes (int64, fullest device),
    prefill_seconds, decode_step_seconds (float64; the last step, null when O = 1), tokens_per_second,
    tokens_per_second_per_device, tokens_per_second_per_sequence (float64; null where all was asserted to take 0 s).
    """
    import polars as pl

    rows = []
    for tensor_parallel, pipeline_parallel in candidate_mappings(inputs):
        if tensor_parallel * pipeline_parallel > most_devices:
            continue
        split = {"tensor_parallel": tensor_parallel, "pipeline_parallel": pipeline_parallel, "replicas": 1}
        estimate = estimate_request(inputs.model_copy(update={"mapping": inputs.mapping.model_copy(update=split)}))
        steps, rate = estimate.decode_seconds, estimate.tokens_per_second
        rows.append(
            {
                "tensor_parallel": tensor_parallel,
                "pipeline_parallel": pipeline_parallel,
                "devices": estimate.devices,
                "fits": estimate.memory.fits,
                "total_bytes": estimate.memory.total_bytes,
                "prefill_seconds": estimate.prefill_seconds,
                "decode_step_seconds": float(steps[-1]) if len(steps) else None,
                "tokens_per_second": rate,
                "tokens_per_second_per_device": None if rate is None else rate / estimate.devices,
                "tokens_per_second_per_sequence": estimate.tokens_per_second_per_sequence,
            }
        )
    return pl.DataFrame(rows, schema_overrides=dict.fromkeys(_MAY_BE_MISSING, pl.Float64()))
