"""Units, and numbers as a person reads them: three significant digits, a unit that fits, thousands separated.

Network and memory rates, and operation counts, use decimal prefixes (GB/s = 10^9 B/s, TFLOP/s = 10^12 op/s); memory
capacity uses binary ones (GiB = 2^30 B), as datasheets and drivers do.
"""

from __future__ import annotations

import math

GIB = 2**30
MIB = 2**20
GIGA = 10**9
MEGA = 10**6
TERA = 10**12
MICRO = 1e-6

INT64_LIMIT = 2**63
"""Exact quantities stay below this, so that plans (Python ints) and sweeps (NumPy int64) can't differ."""

_SMALLEST_WRITTEN_OUT = 1e-4
_LARGEST_WRITTEN_OUT = 1e9
"""Beyond these nobody counts the zeros."""

NO_FIGURE = "–"
"""In the place of a figure that there is none of."""

_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BINARY_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
_DECIMAL_UNITS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def three_digits(value: float) -> str:
    """`value` to three significant digits, thousands separated: 0.0348, 3.48, 34.8, 348, 3,480; 3.48e10 and 3.48e-5
    where nobody would count the zeros.
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    if not _SMALLEST_WRITTEN_OUT <= abs(value) < _LARGEST_WRITTEN_OUT:
        digits, _, exponent = f"{value:.2e}".partition("e")
        return f"{digits}e{int(exponent)}"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    if abs(round(value, decimals)) >= 10 ** (3 - decimals) and decimals > 0:
        decimals -= 1
    return f"{value:,.{decimals}f}"


def time_unit(seconds: float) -> tuple[float, str]:
    """(seconds a unit, its name) of the unit in which `seconds` reads best."""
    size = abs(seconds)
    return next((unit for unit in _TIME_UNITS if size >= unit[0] * 0.9995), _TIME_UNITS[-1])


def format_seconds(seconds: float) -> str:
    """3.48 ms, 34.8 µs."""
    scale, unit = time_unit(seconds)
    return f"{three_digits(seconds / scale)} {unit}"


def format_bytes(count: float) -> str:
    """Capacity in binary units: 4.73 GiB."""
    for scale, unit in _BINARY_UNITS:
        if abs(count) >= scale * 0.9995:
            return f"{three_digits(count / scale)} {unit}"
    return f"{three_digits(count)} B"


def format_gib(count: float) -> str:
    """Device memory, always in GiB with one decimal, so that two figures compare at a glance: 4.7 GiB."""
    return f"{count / GIB:,.1f} GiB"


def format_decimal(value: float, unit: str) -> str:
    """Traffic, rates and operations in decimal units: format_decimal(3.93e7, 'B') is 39.3 MB."""
    for scale, prefix in _DECIMAL_UNITS:
        if abs(value) >= scale * 0.9995:
            return f"{three_digits(value / scale)} {prefix}{unit}"
    return f"{three_digits(value)} {unit}"


def format_count(value: int) -> str:
    """32,768."""
    return f"{value:,}"


def format_percent(fraction: float) -> str:
    """A fraction as percent: 24.8 %."""
    return f"{100 * fraction:.1f} %"
