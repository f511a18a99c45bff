"""How much longer attention decode may take in a model than in the profiler that timed it.

A profiler repeats its call, so that KV which fits in the last cache is read from there; a model's step comes back to a
layer's KV after those of all others, and finds it in the memory. Nobody measured that. The estimate stays what was
measured, and the band reaches up to the form with nothing in the cache.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .bands import Band
from .calibration import FamilyFit
from .evaluation import kernel_times
from .families import AttentionDecode, Machine
from .kernels import Kernel

_FITS: Final = 4.0
"""KV of so many times the cache and more is read from the memory by a profiler too."""


def reaching_memory(band: Band, kernel: Kernel, fit: FamilyFit, machine: Machine) -> Band:
    """`band` of attention decode, its upper end at least at the time with KV in the memory."""
    points = np.shape(band.high_seconds)
    shape = {name: np.broadcast_to(kernel.shape[name], points).reshape(-1) for name in AttentionDecode.dimensions}
    elements = 2.0 * shape["batch"] * shape["context_tokens"] * shape["kv_heads"] * shape["head_size"]
    may_fit = elements * machine.element_bytes < _FITS * machine.l2_bytes
    if not may_fit.any():
        return band
    cached = {name: column[may_fit] for name, column in shape.items()}
    cold = kernel_times(AttentionDecode(fit.kernel, cold_cache=True), cached, machine, fit.values).seconds
    high: Any = np.array(band.high_seconds, dtype=np.float64).reshape(-1)
    high[may_fit] = np.maximum(high[may_fit], cold)
    return Band(band.low_seconds, high.reshape(points))
