"""Forms over many points: each shape once, in blocks, without what can't win; and the same seconds whatever is skipped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.cost import evaluation
from blueprint_nb.cost.evaluation import distinct_shapes, kernel_times
from blueprint_nb.cost.families import AttentionDecode, AttentionPrefill, Collective, Family, Gemm, Link
from blueprint_nb.cost.families.row_wise import ROW_WISE
from blueprint_nb.cost.families.runs import knots
from blueprint_nb.cost.families.split_rule import SPLIT_RULES

from .forms import A100, arrays, machines, starts, values_of

LINK = Link(bytes_per_second=3e11)
ATTENTION = {"query_tokens": 1, "heads": 32, "kv_heads": 8, "head_size": 128}

SWEEPS: dict[str, tuple[Family, dict[str, Any]]] = {
    "gemm": (Gemm(), {"m": np.arange(1, 400), "n": 4096, "k": 11_008}),
    "rms_norm": (ROW_WISE[0], {"rows": np.arange(1, 400), "width": 4096}),
    "all_reduce": (Collective("all_reduce", LINK), {"message_bytes": np.arange(1, 400) * 8192, "ranks": 8}),
    "attention_prefill": (
        AttentionPrefill("flash_attention_2"),
        {**ATTENTION, "batch": 1, "query_tokens": np.arange(1, 400), "context_tokens": np.arange(1, 400)},
    ),
    **{
        f"attention_decode: {kernel}": (
            AttentionDecode(kernel),
            {**ATTENTION, "batch": np.array([[1], [9]]), "context_tokens": np.arange(1, 6000, 29)[None, :]},
        )
        for kernel in SPLIT_RULES
    },
}
SWEPT = pytest.mark.parametrize(("family", "shape"), SWEEPS.values(), ids=list(SWEEPS))

DECODE_KERNELS = st.sampled_from(sorted(SPLIT_RULES))
SIZES = st.lists(st.integers(1, 60_000), min_size=1, max_size=60)


@SWEPT
def test_any_blocking_gives_the_same_bits(family: Family, shape: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    whole = kernel_times(family, shape, A100, starts(family))
    for rows in (1, 7, 64, 10**6):
        monkeypatch.setattr(evaluation, "_ROWS", rows)
        blocked = kernel_times(family, shape, A100, starts(family))
        np.testing.assert_array_equal(blocked.seconds, whole.seconds)
        for name, term in whole.terms.items():
            np.testing.assert_array_equal(blocked.terms[name], term)


@SWEPT
def test_points_cost_what_their_shapes_cost_alone(family: Family, shape: dict[str, Any]):
    values = starts(family)
    times = kernel_times(family, shape, A100, values)
    columns = {name: np.broadcast_to(shape[name], times.seconds.shape) for name in family.dimensions}
    for place in ((0,) * times.seconds.ndim, tuple(size // 2 for size in times.seconds.shape)):
        alone = arrays(family, **{name: column[place] for name, column in columns.items()})
        assert times.seconds[place] == family.kernel_time(family.prepare(alone, A100), values).seconds[0]


@SWEPT
def test_the_order_of_points_changes_nothing_but_their_order(family: Family, shape: dict[str, Any]):
    values = starts(family)
    forward = kernel_times(family, shape, A100, values)
    backward = kernel_times(family, {name: np.flip(size) for name, size in shape.items()}, A100, values)
    np.testing.assert_array_equal(np.flip(backward.seconds), forward.seconds)


@given(values=values_of(Gemm()), machine=machines(), m=SIZES, data=st.data())
def test_a_gemm_with_its_terms_takes_the_seconds_of_all_configurations_whatever_the_order(values, machine, m, data):
    n, k = (data.draw(st.lists(st.sampled_from([1, 96, 4096, 50_257]), min_size=len(m), max_size=len(m))) for _ in "nk")
    prepared = Gemm().prepare(arrays(Gemm(), m=m, n=n, k=k), machine)
    time = Gemm().kernel_time(prepared, values)
    np.testing.assert_array_equal(time.seconds, Gemm().seconds(prepared, values))


@given(values=values_of(Gemm()), machine=machines(), first=st.integers(1, 20_000), width=st.integers(1, 60_000))
def test_what_a_run_of_gemms_leaves_out_is_never_the_fastest(values, machine, first, width):
    shape = arrays(Gemm(), m=np.arange(first, first + 100), n=width, k=4096)
    prepared = Gemm().prepare(shape, machine)
    time = Gemm().kernel_time(prepared, values)
    np.testing.assert_array_equal(time.seconds, Gemm().seconds(prepared, values))
    overlapped = np.cbrt(sum(time.terms[name] ** 3 for name in ("compute", "memory", "l2")))
    np.testing.assert_allclose(time.terms["floor"] + overlapped + time.terms["split"], time.seconds, rtol=1e-12)


@given(data=st.data(), kernel=DECODE_KERNELS, machine=machines(), batch=st.integers(1, 64), is_cold=st.booleans())
def test_what_a_run_of_decodes_leaves_out_never_wins(data, kernel, machine, batch, is_cold):
    family = AttentionDecode(kernel, cold_cache=is_cold)
    values = data.draw(values_of(family))
    step = data.draw(st.integers(1, 700))
    shape = arrays(family, **{**ATTENTION, "batch": batch, "context_tokens": np.arange(1, 100 * step, step)})
    prepared = family.prepare(shape, machine)
    np.testing.assert_array_equal(family.kernel_time(prepared, values).seconds, family.seconds(prepared, values))


@given(data=st.data(), kernel=DECODE_KERNELS, machine=machines(), seed=st.integers(0, 2**32 - 1))
def test_nor_does_what_a_run_of_growing_batches_and_queries_leaves_out(data, kernel, machine, seed):
    family = AttentionDecode(kernel)
    values = data.draw(values_of(family))
    most = np.array([[90], [70], [5000]])
    batch, queries, contexts = np.sort(np.random.default_rng(seed).integers(1, most, size=(3, 100)))
    shape = arrays(family, **{**ATTENTION, "batch": batch, "query_tokens": queries, "context_tokens": contexts})
    prepared = family.prepare(shape, machine)
    assert len(prepared.knots.rows) == 8
    np.testing.assert_array_equal(family.kernel_time(prepared, values).seconds, family.seconds(prepared, values))


@given(data=st.data(), kernel=DECODE_KERNELS, contexts=SIZES)
def test_a_decode_with_its_terms_takes_the_seconds_of_all_splits_whatever_the_order(data, kernel, contexts):
    family = AttentionDecode(kernel)
    values = data.draw(values_of(family))
    batches = data.draw(st.lists(st.integers(1, 40), min_size=len(contexts), max_size=len(contexts)))
    shape = arrays(family, **{**ATTENTION, "batch": batches, "context_tokens": contexts})
    prepared = family.prepare(shape, A100)
    np.testing.assert_array_equal(family.kernel_time(prepared, values).seconds, family.seconds(prepared, values))


@given(values=values_of(Gemm()), m=SIZES)
def test_the_fastest_alternatives_alone_give_the_same_seconds(values, m):
    prepared = Gemm().prepare(arrays(Gemm(), m=m, n=4096, k=4096), A100)
    narrowed = Gemm().narrowed(prepared, values, 8)
    np.testing.assert_array_equal(Gemm().seconds(narrowed, values), Gemm().seconds(prepared, values))
    twice = Gemm().narrowed(narrowed, values, 2)
    np.testing.assert_array_equal(Gemm().seconds(twice, values), Gemm().seconds(prepared, values))


@given(
    rows=st.lists(st.integers(1, 5) | st.integers(2**40, 2**62), min_size=1, max_size=6),
    columns=st.lists(st.integers(1, 5) | st.integers(2**40, 2**62), min_size=1, max_size=6),
    alike=st.integers(1, 2**62),
)
def test_distinct_shapes_are_restored_to_every_point(rows, columns, alike):
    shape = {"m": np.array(rows)[:, None], "n": np.array(columns)[None, :], "k": alike}
    distinct, restored = distinct_shapes(shape)
    seen = list(zip(*(distinct[name].tolist() for name in shape), strict=True))
    assert len(seen) == len(set(seen)) == len(set(rows)) * len(set(columns))
    for name, size in shape.items():
        expected = np.broadcast_to(size, (len(rows), len(columns)))
        np.testing.assert_array_equal(restored(distinct[name]), expected)


def test_shapes_that_are_one_are_asked_for_once():
    distinct, restored = distinct_shapes({"m": np.array([[3]]), "n": 4})
    assert {name: column.tolist() for name, column in distinct.items()} == {"m": [3], "n": [4]}
    assert restored(np.array([1.5])).tolist() == [[1.5]]


def test_a_run_ends_where_a_shape_shrinks_or_another_dimension_changes():
    growing = np.array([1, 2, 2, 3, 1, 2, 2, 9])
    other = np.array([5, 5, 5, 5, 5, 5, 6, 6])
    found = knots([growing], [other])
    assert found.rows.tolist() == [0, 3, 4, 5, 6, 7]
    assert found.next.tolist() == [1, 1, 3, 3, 5, 5]
    assert found.below.tolist() == [0, 0, 0, 1, 2, 3, 4, 5]


def test_a_long_run_has_a_knot_every_sixteen_rows_and_at_its_end():
    found = knots([np.arange(40)])
    assert found.rows.tolist() == [0, 16, 32, 39]
    assert found.next.tolist() == [1, 2, 3, 3]
    assert found.below[[0, 15, 16, 38, 39]].tolist() == [0, 0, 1, 2, 3]
