"""What no kernel can go below, whatever was fitted: its operations at the peak, and what must come from the memory.

A GEMM reads its weights and attention its KV cache once for each execution, and both are far too much for a cache to
hold from one step to the next. Other operands may well be in the cache, so their bytes bound nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .families import Machine


def seconds_at_peak(family: str, shape: Mapping[str, Any], machine: Machine) -> Any | None:
    """Of shapes as `kernels` gives them: float64 of the points' shape; None for a family that nothing bounds."""
    if family not in ("gemm", "attention_decode"):
        return None
    sizes = {name: np.asarray(value, dtype=np.float64) for name, value in shape.items()}
    if family == "gemm":
        weights = sizes["n"] * sizes["k"]
        operations = 2.0 * sizes["m"] * weights
        return np.maximum(operations / machine.matrix_flops, _read(weights, machine))
    width = sizes["kv_heads"] * sizes["head_size"]
    return _read(2.0 * sizes["batch"] * sizes["context_tokens"] * width, machine)


def _read(elements: Any, machine: Machine) -> Any:
    return elements * machine.element_bytes / machine.bytes_per_second
