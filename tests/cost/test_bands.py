"""Bands of sums, by hand: errors of one family go together by ρ, those of two families do not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.cost import Band, Deviation, band_of_sum
from blueprint_nb.cost.calibration import FamilyFit
from blueprint_nb.cost.expected_error import doublings_outside, outside_dimensions, spread_of

from .sets import fit_of, residuals


@pytest.mark.parametrize(
    ("correlation", "half"),
    [(1.0, 3.0 + 4.0), (0.0, 5.0), (0.5, math.sqrt(0.5 * 25 + 0.5 * 49))],
)
def test_half_widths_of_one_family_add_up_as_far_as_they_go_together(correlation: float, half: float) -> None:
    parts = [Deviation("gemm", correlation, 3.0, 3.0), Deviation("gemm", correlation, 4.0, 4.0)]
    band = band_of_sum(100.0, parts)
    assert (band.low_seconds, band.high_seconds) == pytest.approx((100 - half, 100 + half))


def test_points_of_one_array_go_together_each_as_far_as_its_own_family_does() -> None:
    rho = np.array([1.0, 0.0, 0.5])
    parts = [Deviation("gemm", rho, 3.0, 3.0), Deviation("gemm", 0.0, 4.0, 4.0)]
    band = band_of_sum(100.0, parts)
    assert (100 - band.low_seconds).tolist() == pytest.approx([7.0, 5.0, math.sqrt(0.5 * 25 + 0.5 * 49)])
    assert parts[0].summed(3).correlation == 1.0


def test_families_err_apart() -> None:
    parts = [
        Deviation("gemm", 1.0, 1.0, 2.0),
        Deviation("gemm", 1.0, 2.0, 4.0),
        Deviation("rope", 1.0, 4.0, 8.0),
    ]
    band = band_of_sum(100.0, parts)
    assert (band.low_seconds, band.high_seconds) == pytest.approx((100 - 5.0, 100 + 10.0))


def test_a_band_may_be_lopsided_and_never_goes_below_zero() -> None:
    band = band_of_sum(1.0, [Deviation("gemm", 0.0, 5.0, 0.25)])
    assert (band.low_seconds, band.high_seconds) == (0.0, 1.25)
    assert band_of_sum(2.0, []) == Band(2.0, 2.0)


def test_steps_of_one_component_err_alike() -> None:
    summed = Deviation("gemm", 0.0, np.array([1.0, 2.0, 3.0]), 0.5).summed(3)
    assert (summed.below_seconds, summed.above_seconds) == (6.0, 1.5)


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=6), st.floats(0, 1))
def test_a_sum_is_never_surer_than_apart_nor_less_sure_than_together(halves: list[float], correlation: float) -> None:
    band = band_of_sum(1e6, [Deviation("gemm", correlation, one, one) for one in halves])
    half = band.high_seconds - 1e6
    assert math.hypot(*halves) - 1e-6 <= half <= sum(halves) + 1e-6


def band_of(fit: FamilyFit, size: Any, seconds: Any, doublings: float = 0.0, *, borrowed: bool = False) -> Band:
    spread = spread_of(fit.residuals)
    assert spread is not None
    return spread.band(size, seconds, doublings, borrowed=borrowed)


def test_a_component_s_band_is_that_of_its_size_to_either_side() -> None:
    """0.2 up to size 8 and 0.5 from 64 on; between them a line over doublings, of which 32 is the second of three."""
    fit = fit_of("rope", residuals=(*residuals(0.2, 0, 3), *residuals(0.5, 6, 6)))
    sizes = np.array([1, 8, 16, 32, 64, 10**6])
    band = band_of(fit, sizes, np.ones(6))
    assert np.log(band.high_seconds) == pytest.approx([0.2, 0.2, 0.3, 0.4, 0.5, 0.5])
    assert np.log(band.low_seconds) == pytest.approx(-np.log(band.high_seconds))
    backwards = fit_of("rope", residuals=tuple(reversed(fit.residuals)))
    again = band_of(backwards, sizes, np.ones(6))
    assert again.low_seconds.tolist() == band.low_seconds.tolist()


@given(st.lists(st.floats(0, 3), min_size=1, max_size=12), st.integers(1, 10**6))
def test_a_band_does_not_jump_from_one_size_to_the_next(reaches: list[float], size: int) -> None:
    """From one size to the next it changes by at most the share of an octave that lies between them."""
    octaves = tuple(residuals(reach, at, at)[0] for at, reach in enumerate(reaches))
    band = band_of(fit_of("rope", residuals=octaves), np.array([size, size + 1]), np.ones(2))
    first, second = np.log(band.high_seconds)
    assert abs(second - first) <= 3 * math.log2((size + 1) / size) + 1e-12


def test_nothing_held_out_is_no_band() -> None:
    assert spread_of(()) is None


@pytest.mark.parametrize(
    ("doublings", "borrowed", "times"),
    [(0, False, 1), (1, False, 1.5), (1, True, 3), (0, True, 2), (9, False, 4), (9, True, 4)],
)
def test_a_band_is_wider_outside_the_range_and_for_borrowed_parameters(
    doublings: int, borrowed: bool, times: float
) -> None:
    band = band_of(fit_of("rope"), 8, 1.0, float(doublings), borrowed=borrowed)
    assert 1 / band.low_seconds - 1 == pytest.approx(times * math.expm1(0.2))
    assert band.high_seconds - 1 == pytest.approx(times * math.expm1(0.2))


def test_doublings_outside_are_counted_over_all_dimensions_those_below_by_half() -> None:
    fit = fit_of("rope", ranges={"rows": (16, 64), "width": (128, 512)})
    shape = {"rows": np.array([1, 16, 64, 256, 256]), "width": np.array([128, 512, 2048, 128, 64])}
    assert doublings_outside(fit.ranges, shape).tolist() == [4 / 2, 0, 2, 2, 2 + 1 / 2]


def test_each_point_says_which_of_its_own_dimensions_are_outside() -> None:
    fit = fit_of("rope", ranges={"rows": (16, 64), "width": (128, 512)})
    index, names = outside_dimensions(fit, {"rows": np.array([[1], [16]]), "width": np.array([128, 2048])})
    assert [[names[one] for one in row] for row in index.tolist()] == [
        [("rows",), ("rows", "width")],
        [(), ("width",)],
    ]
