"""The digest of a plan: SHA-256 over the digest of its template and its bound integers as little-endian int64.

Thousands of plans share a template and differ only in integers, so a digest costs about a microsecond.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np


def packed_digest(template_digest: str, quantities: Sequence[int]) -> str:
    """Digest of one plan."""
    return hashlib.sha256(bytes.fromhex(template_digest) + struct.pack(f"<{len(quantities)}q", *quantities)).hexdigest()


def packed_digests(template_digest: str, columns: Sequence[Any], points: int) -> list[str]:
    """Digests of many plans: `columns` are ints or int64 arrays of shape (points,), one for each quantity."""
    rows = np.empty((points, len(columns)), dtype="<i8")
    for index, column in enumerate(columns):
        rows[:, index] = column
    packed, width = rows.tobytes(), rows.shape[1] * rows.itemsize
    start = hashlib.sha256(bytes.fromhex(template_digest))
    digests = []
    for offset in range(0, len(packed), width):
        state = start.copy()
        state.update(packed[offset : offset + width])
        digests.append(state.hexdigest())
    return digests
