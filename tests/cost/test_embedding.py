"""The embedding: one index after the other, then spread over the device."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.cost.families import Embedding

from .forms import A100, machines, seconds, starts, values_of

EMBEDDING = Embedding()


@given(values=values_of(EMBEDDING), machine=machines(), width=st.integers(1, 60_000))
def test_an_embedding_never_takes_less_time_for_more_tokens(values, machine, width):
    rows = np.unique(np.concatenate([np.arange(1, 200), np.geomspace(200, 200_000, 200).astype(np.int64)]))
    taken = seconds(EMBEDDING, values, machine, rows=rows, width=width)
    assert np.isfinite(taken).all()
    assert (np.diff(taken) >= -1e-12 * taken[1:]).all()


def test_a_few_indices_take_their_turns_and_many_the_same_whatever_they_are():
    values = starts(EMBEDDING, floor_seconds=2e-6, index_seconds=5e-7, spread_seconds=3e-6)
    taken = seconds(EMBEDDING, values, rows=np.array([2, 4, 8, 16]), width=1)
    assert taken == pytest.approx([3e-6, 4e-6, 5e-6, 5e-6], rel=1e-3)


def test_rows_by_hand_where_the_memory_sets_the_pace():
    """8,192 rows of 8,192 elements of 2 bytes, read and written: 268 MB at half of 1.935 TB/s."""
    values = starts(EMBEDDING, bandwidth_fraction=0.5, element_seconds=2e-11, floor_seconds=2e-6)
    (taken,) = seconds(EMBEDDING, values, rows=8192, width=8192)
    assert taken == pytest.approx(2e-6 + np.hypot(3e-6, 2 * 2 * 8192 * 8192 / 1.935e12 / 0.5), rel=1e-9)


def test_rows_by_hand_where_the_units_set_the_pace():
    """8,192 rows of 8,192 elements over 108 units of 1 ns an element."""
    values = starts(EMBEDDING, element_seconds=1e-9, floor_seconds=2e-6)
    (taken,) = seconds(EMBEDDING, values, rows=8192, width=8192)
    assert taken == pytest.approx(2e-6 + np.hypot(3e-6, 8192 * 8192 / 108 * 1e-9), rel=1e-9)


def test_an_embedding_explains_itself():
    values = starts(EMBEDDING, floor_seconds=2e-6, index_seconds=5e-7, spread_seconds=3e-6)
    few = EMBEDDING.explain({"rows": 4, "width": 4096}, A100, values)
    many = EMBEDDING.explain({"rows": 64, "width": 4096}, A100, values)
    assert few.startswith("4 rows of the table, one after the other: 2.00 µs; elements ")
    assert many.startswith("64 rows of the table, spread over the device: 3.00 µs; elements ")
    assert many.endswith("; floor 2.00 µs")
