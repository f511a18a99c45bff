"""The statistics of many steps at once, for one phase over arrays of batch and context."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import Template
from ..workload import InferencePhase, step_statistics


def phase_statistics(template: Template, phase: InferencePhase, batch_size: Any, context_tokens: Any) -> dict[str, Any]:
    """Statistics of `phase`, as int64 arrays that broadcast to the shape of `batch_size` and `context_tokens`.

    `batch_size` and `context_tokens` are int64 arrays of at least one element. Raises `InvalidInputError` if any
    quantity of `template` could pass 2^63 at any point.
    """
    block = template.kv_block_tokens
    prefill = phase is InferencePhase.PREFILL
    context, batch = int(np.max(context_tokens)), int(np.max(batch_size))
    largest = step_statistics(context if prefill else 1, context, batch, block)
    template.check_int64(largest)
    query_tokens = context_tokens if prefill else np.int64(1)
    return step_statistics(query_tokens, context_tokens, batch_size, block)
