"""GEMM kernels of 8-bit floats: activations quantised first, tiles picked by m, by hand and whatever their parameters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.cost.families import Gemm, Machine, form_of
from blueprint_nb.errors import UnknownNameError

from .forms import arrays, machines, never_falls, seconds, starts, values_of

FLOAT8 = Gemm("quantised")
H100 = Machine(compute_units=132, matrix_flops=1.979e15, bytes_per_second=3.35e12, l2_bytes=50 * 2**20, element_bytes=1)
ONE_UNIT = Machine(compute_units=1, matrix_flops=1e12, bytes_per_second=1e15, l2_bytes=1e9, element_bytes=1)


def terms(machine: Machine = H100, **shape: object) -> dict[str, np.ndarray]:
    return dict(FLOAT8.kernel_time(FLOAT8.prepare(arrays(FLOAT8, **shape), machine), starts(FLOAT8)).terms)


@given(values=values_of(FLOAT8), machine=machines(), n=st.integers(1, 60_000), k=st.integers(1, 60_000))
def test_more_rows_never_take_less_time(values, machine, n, k):
    rows = np.unique(np.concatenate([np.arange(1, 300), np.geomspace(300, 200_000, 200).astype(np.int64)]))
    assert never_falls(seconds(FLOAT8, values, machine, m=rows, n=n, k=k))


@given(values=values_of(FLOAT8), machine=machines(), first=st.integers(1, 20_000), n=st.integers(1, 60_000))
def test_what_a_run_leaves_out_is_never_the_fastest_and_terms_add_up(values, machine, first, n):
    prepared = FLOAT8.prepare(arrays(FLOAT8, m=np.arange(first, first + 100), n=n, k=4096), machine)
    time = FLOAT8.kernel_time(prepared, values)
    np.testing.assert_array_equal(time.seconds, FLOAT8.seconds(prepared, values))
    overlapped = np.cbrt(sum(time.terms[name] ** 3 for name in ("compute", "memory", "l2")))
    np.testing.assert_allclose(time.terms["floor"] + time.terms["quantise"] + overlapped, time.seconds, rtol=1e-12)


@given(values=values_of(FLOAT8), m=st.lists(st.integers(1, 40_000), min_size=1, max_size=30))
def test_the_fastest_tiles_alone_give_the_same_seconds(values, m):
    prepared = FLOAT8.prepare(arrays(FLOAT8, m=m, n=4096, k=4096), H100)
    narrowed = FLOAT8.narrowed(prepared, values, 8)
    np.testing.assert_array_equal(FLOAT8.seconds(narrowed, values), FLOAT8.seconds(prepared, values))


def test_quantising_by_hand():
    """Three rows of 4096 on one unit: 3 · (1 + 2 · 2) µs one after the other, 20 µs for 3 · 4096 · (2 + 1) bytes."""
    machine = Machine(compute_units=1, matrix_flops=1e15, bytes_per_second=1.8432e9, l2_bytes=1e6, element_bytes=1)
    changes = {"row_seconds": 1e-6, "chunk_seconds": 2e-6, "bandwidth_fraction": 1.0}
    values = starts(FLOAT8, **{f"quantise_{name}": value for name, value in changes.items()})
    prepared = FLOAT8.prepare(arrays(FLOAT8, m=3, n=1, k=4096), machine)
    (quantise,) = FLOAT8.kernel_time(prepared, values).terms["quantise"]
    assert quantise == pytest.approx(25e-6)


def test_rows_fewer_than_the_units_are_quantised_in_the_time_of_one():
    quantise = terms(m=[1, 132, 264], n=4096, k=32)["quantise"]
    assert quantise[:2] == pytest.approx(8e-7, rel=1e-4)
    assert quantise[2] == pytest.approx(1.6e-6, rel=1e-4)


def test_a_chunk_more_is_a_step():
    quantise = terms(m=32_768, n=64, k=[1, 2048, 2049])["quantise"]
    assert quantise[1] < 1.1 * quantise[0]
    assert quantise[2] > 1.3 * quantise[1]


def test_results_are_written_in_16_bits_whatever_is_multiplied():
    """65,536 · 32 bytes of each operand, 2 · 65,536² of the result."""
    (memory,) = terms(m=65_536, n=65_536, k=32)["memory"]
    assert memory == pytest.approx((2 * 65_536 * 32 + 2 * 65_536**2) / (0.85 * 3.35e12))


@pytest.mark.parametrize(("kind", "most"), [("flattest", 64), ("small", 128)])
def test_a_low_tile_serves_few_rows_however_good_it_is(kind: str, most: int):
    values = starts(FLOAT8, floor_seconds=0.0, prologue_seconds=0.0)
    values |= {name: 1.0 if name.startswith(kind) else 0.1 for name in values if "efficiency" in name}
    last, one_more = seconds(FLOAT8, values, ONE_UNIT, m=[most, most + 1], n=64, k=65_536)
    assert one_more > 3 * last


def test_many_rows_are_for_the_tallest_tiles():
    """Three tiles of 128 rows would have less to do than two of 256."""
    values = starts(FLOAT8)
    values |= {name: 0.5 for name in values if "efficiency" in name}
    prepared = FLOAT8.prepare(arrays(FLOAT8, m=[256, 257], n=64, k=65_536), ONE_UNIT)
    assert FLOAT8.kernel_time(prepared, values).counts["ctas"][1] == 2


def test_k_is_left_whole():
    assert "split" not in terms(m=16, n=512, k=65_536)
    assert "reduction_seconds" not in starts(FLOAT8)
    assert "quantise_row_seconds" not in starts(Gemm())


def test_a_row_explains_itself():
    words = FLOAT8.explain({"m": 4096, "n": 4096, "k": 4096}, H100, starts(FLOAT8))
    assert words == "512 CTAs on 132 SMs: 4 waves, 97 % full; L2 96.2 µs; quantise 45.7 µs; floor 2.00 µs"


def test_a_kernel_is_found_by_its_name():
    found = form_of("gemm", kernel="quantised")
    assert isinstance(found, Gemm)
    assert found.kernel == "quantised"
    assert found.parameters == FLOAT8.parameters
    assert form_of("gemm").parameters == Gemm().parameters
    with pytest.raises(UnknownNameError) as caught:
        Gemm("quantized")
    assert str(caught.value) == "kernel must be quantised. Got 'quantized'. Did you mean quantised?"
