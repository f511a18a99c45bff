"""What the tests of cost forms share: machines, parameters within their bounds, and seconds of shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from blueprint_nb.cost.families import Family, Machine

A100 = Machine(compute_units=108, matrix_flops=312e12, bytes_per_second=1.935e12, l2_bytes=40 * 2**20, element_bytes=2)


def starts(family: Family, **changes: float) -> dict[str, float]:
    return {**{one.name: one.start for one in family.parameters}, **changes}


def values_of(family: Family) -> st.SearchStrategy[dict[str, float]]:
    """Any parameters within the family's bounds."""
    return st.fixed_dictionaries({one.name: st.floats(one.lowest, one.highest) for one in family.parameters})


def arrays(family: Family, **shape: Any) -> dict[str, Any]:
    """The shape's dimensions as int64 arrays of one length."""
    each = [np.atleast_1d(np.asarray(shape[name], dtype=np.int64)) for name in family.dimensions]
    return dict(zip(family.dimensions, np.broadcast_arrays(*each), strict=True))


def seconds(family: Family, values: dict[str, float], machine: Machine = A100, **shape: Any) -> Any:
    return family.seconds(family.prepare(arrays(family, **shape), machine), values)


def machines() -> st.SearchStrategy[Machine]:
    return st.builds(
        Machine,
        compute_units=st.integers(1, 304),
        matrix_flops=st.floats(1e12, 5e15),
        bytes_per_second=st.floats(1e11, 2e13),
        l2_bytes=st.floats(1e6, 3e8),
        element_bytes=st.sampled_from([1, 2, 4]),
    )


def never_falls(taken: Any) -> bool:
    """Finite, positive, and no less from one to the next but for rounding."""
    return bool(np.isfinite(taken).all() and (taken > 0).all() and (np.diff(taken) >= -1e-12 * taken[1:]).all())
