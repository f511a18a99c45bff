"""The learned residual layer on made-up truths: a form times a known factor is found near, and nothing is said far away."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.cost.residual_layer import ResidualLayer, non_decreasing

SIZES = 2 ** np.arange(13)
FULL = 1 / 1.3
"""Coverage of one shape that is met exactly: 1 / (1 + 0.3)."""


def form(shape: Mapping[str, Any]) -> Any:
    """5 µs, and 1 ns for a million operations."""
    return 5e-6 + 1e-15 * math.prod(np.asarray(size, dtype=np.float64) for size in shape.values())


def shape(m: Any, n: int = 4096, k: int = 4096) -> dict[str, Any]:
    rows = np.atleast_1d(np.asarray(m, dtype=np.int64))
    return {"m": rows, "n": np.full(len(rows), n), "k": np.full(len(rows), k)}


def layer(factor: Any = 1.2, m: Any = SIZES, family: str = "gemm", **widths: int) -> ResidualLayer:
    """Of measurements that are the form's times `factor`."""
    measured = shape(m, **widths)
    return ResidualLayer(family, measured, form(measured) * factor, form)


def seconds(of: ResidualLayer, asked: Mapping[str, Any]) -> Any:
    return of.corrected(asked, form(asked)).seconds


def test_where_a_shape_was_measured_its_factor_is_found_but_for_the_shrinkage() -> None:
    """ln 1.2 · 1 / (1 + 0.3), at knots and in between."""
    found = layer().corrected(shape([1, 3, 1024, 3000]), form(shape([1, 3, 1024, 3000])))
    assert found.seconds == pytest.approx(form(shape([1, 3, 1024, 3000])) * 1.2**FULL, rel=1e-12)
    assert found.coverage == pytest.approx([FULL] * 4)
    assert found.is_corrected.all()


def test_two_near_shapes_count_by_their_distance() -> None:
    """One doubling of k is 1 / 0.35 bandwidths away, where the shape itself is at 0."""
    measured = {name: np.concatenate([shape(SIZES)[name], shape(SIZES, k=8192)[name]]) for name in ("m", "n", "k")}
    factors = np.repeat([1.2, 0.9], len(SIZES))
    both = ResidualLayer("gemm", measured, form(measured) * factors, form)
    far = np.exp(-0.5 / 0.35**2)
    expected = (np.log(1.2) + far * np.log(0.9)) / (1 + far + 0.3)
    assert seconds(both, shape([256])) == pytest.approx(form(shape([256])) * np.exp(expected), rel=1e-12)


def test_far_from_what_was_measured_nothing_changes_to_the_bit() -> None:
    """Half a doubling of n is five bandwidths: exp(−12.5) / 0.3 is below a thousandth."""
    asked = shape([1, 7, 512], n=5800)
    found = layer().corrected(asked, form(asked))
    assert found.seconds.tolist() == form(asked).tolist()
    assert found.coverage.tolist() == [0.0] * 3
    assert not found.is_corrected.any()


def test_coverage_fades_to_nothing_over_a_doubling_beyond_the_measured_sizes() -> None:
    """Measured from 64 to 256; at 384 log₂ 1.5 of a doubling is gone."""
    asked = shape([16, 32, 64, 256, 384, 512, 1000])
    found = layer(m=[64, 128, 256]).corrected(asked, form(asked))
    rest = 1 - np.log2(1.5)
    assert found.coverage == pytest.approx([0, 0, FULL, FULL, rest / (rest + 0.3), 0, 0])
    assert found.is_corrected.tolist() == [False, False, True, True, True, False, False]
    outside = ~found.is_corrected
    assert found.seconds[outside].tolist() == form(asked)[outside].tolist()


def test_a_shape_that_was_measured_once_counts_among_others_that_were_measured_at_other_sizes() -> None:
    """32 and 128 of another shape would else be the only knots."""
    measured = {"m": np.array([64, 32, 128]), "n": np.array([4096, 512, 512]), "k": np.full(3, 4096)}
    found = ResidualLayer("gemm", measured, form(measured) * 1.2, form)
    assert seconds(found, shape([64])) == pytest.approx(form(shape([64])) * 1.2**FULL)


def test_a_time_beyond_the_last_never_falls_below_it() -> None:
    """A kernel ten times slower than its form at 256 rows: the form gets there much later."""
    slow = layer(10.0, [256])
    asked = shape([256, 512, 600, 2000, 10**6])
    found = slow.corrected(asked, form(asked))
    most = form(shape([256]))[0] * 10**FULL
    assert found.seconds == pytest.approx([most, most, most, most, form(shape([10**6]))[0]])
    assert found.coverage[2:].tolist() == [0, 0, 0]
    assert found.is_corrected.tolist() == [True, True, True, True, False]


def test_repeats_are_their_median_and_times_that_fall_are_levelled_first() -> None:
    """Of 1, 2 and 9 times the form 2 is taken; ln 4 and ln 1, in the wrong order, both become ln 2."""
    flat = {"width": np.array([64] * 5), "rows": np.array([8, 8, 8, 16, 32])}
    times = np.array([1.0, 9.0, 2.0, 4.0, 1.0])
    found = ResidualLayer("gated_activation", flat, times, lambda asked: np.ones(len(asked["rows"])))
    asked = {"rows": np.array([8, 32]), "width": 64}
    assert found.corrected(asked, np.ones(2)).seconds == pytest.approx([2**FULL] * 2)


def test_a_row_width_counts_for_activations() -> None:
    """Widths of a form that does not see them, one bandwidth apart."""
    rows = {"rows": SIZES, "width": np.full(len(SIZES), 10_000)}
    found = ResidualLayer("gated_activation", rows, np.full(len(SIZES), 2.0), lambda asked: np.ones(len(asked["rows"])))
    weight = np.exp(-0.5 * (np.log2(12_746 / 10_000) / 0.35) ** 2)
    corrected = found.corrected({"rows": np.array([4]), "width": 12_746}, np.ones(1))
    assert weight == pytest.approx(np.exp(-0.5), rel=1e-3)
    assert corrected.seconds == pytest.approx(2 ** (weight / (weight + 0.3)))


def test_points_keep_their_shape() -> None:
    asked = {"m": np.array([[1], [2]]), "n": np.array([4096, 64, 4096]), "k": 4096}
    found = layer().corrected(asked, form(asked))
    assert found.seconds.shape == found.coverage.shape == found.is_corrected.shape == (2, 3)
    assert found.is_corrected.tolist() == [[True, False, True]] * 2


def test_the_nearest_sequence_that_does_not_fall() -> None:
    assert non_decreasing([1.0, 3.0, 2.0, 2.0, 5.0]).tolist() == pytest.approx([1, 7 / 3, 7 / 3, 7 / 3, 5])
    assert non_decreasing([3.0, 2.0, 1.0]).tolist() == [2.0] * 3
    assert non_decreasing([]).tolist() == []


@given(
    measured=st.lists(
        st.tuples(
            st.integers(1, 300), st.sampled_from([3900, 4096, 4300]), st.sampled_from([2048, 4096]), st.floats(-3, 3)
        ),
        min_size=1,
        max_size=30,
    ),
    n=st.sampled_from([3900, 4000, 4096, 5000]),
)
def test_time_never_falls_as_work_grows_whatever_was_measured(
    measured: list[tuple[int, int, int, float]], n: int
) -> None:
    m, columns, depth, residual = (np.array(one) for one in zip(*measured, strict=True))
    known = {"m": m, "n": columns, "k": depth}
    # A form with steps, as waves are: some neighbours take the same time.
    stepped = lambda asked: form({**asked, "m": -(-np.asarray(asked["m"]) // 16) * 16})  # noqa: E731
    found = ResidualLayer("gemm", known, stepped(known) * np.exp(residual), stepped)
    asked = shape(np.arange(1, 1300), n=n)
    corrected = found.corrected(asked, stepped(asked))
    assert (np.diff(corrected.seconds) >= -1e-12 * corrected.seconds[1:]).all()
    assert ((corrected.coverage >= 0) & (corrected.coverage < 1)).all()
    untouched = ~corrected.is_corrected
    assert corrected.seconds[untouched].tolist() == stepped(asked)[untouched].tolist()
    assert (corrected.coverage[untouched] == 0).all()
