"""Octaves of size: each begins at a power of two and ends before the next, so that sizes in it are within a factor of
two. How far off a form is depends on the size, and most rows of a profile are large; errors are told by octaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def octave_of(size: Any) -> Any:
    """⌊log₂ size⌋ of sizes ≥ 1, as int64."""
    return np.frexp(np.asarray(size, dtype=np.float64))[1].astype(np.int64) - 1
