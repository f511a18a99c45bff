"""Numbers as a person reads them: three significant digits and a unit that fits."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.units import (
    GIB,
    format_bytes,
    format_count,
    format_decimal,
    format_gib,
    format_percent,
    format_seconds,
    three_digits,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (0.0348, "0.0348"), (3.48, "3.48"), (34.8, "34.8"), (348, "348"), (3480, "3,480"),
        (9.999, "10.0"), (99.99, "100"), (999.9, "1,000"), (0.9996, "1.00"), (1, "1.00"), (-3.456, "-3.46"),
        (1e-4, "0.000100"), (9.99e8, "999,000,000"), (9.6e10, "9.60e10"), (-1e9, "-1.00e9"), (3.456e-7, "3.46e-7"),
        (math.inf, "inf"), (math.nan, "nan"),
    ],
)  # fmt: skip
def test_three_digits_are_kept(value: float, text: str) -> None:
    assert three_digits(value) == text


@given(st.floats(1e-12, 1e12))
def test_what_is_read_is_within_half_a_percent(value: float) -> None:
    assert float(three_digits(value).replace(",", "")) == pytest.approx(value, rel=0.005)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3480, "3,480 s"), (1, "1.00 s"), (0.9996, "1.00 s"), (0.00348, "3.48 ms"), (34.8e-6, "34.8 µs"), (5e-9, "5.00 ns"), (0, "0 ns"),
     (1e9, "1.00e9 s"), (1e-15, "1.00e-6 ns")],
)  # fmt: skip
def test_seconds_have_a_unit_that_fits(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


def test_capacity_is_binary_and_traffic_decimal() -> None:
    assert format_bytes(4.73 * GIB) == "4.73 GiB"
    assert format_bytes(1023) == "1,023 B"
    assert format_bytes(1024) == "1.00 KiB"
    assert format_gib(4.73 * GIB) == "4.7 GiB"
    assert format_decimal(3.93e7, "B") == "39.3 MB"
    assert format_decimal(312e12, "FLOP/s") == "312 TFLOP/s"
    assert format_decimal(999, "B") == "999 B"
    assert format_percent(0.248) == "24.8 %"
    assert format_count(32768) == "32,768"
