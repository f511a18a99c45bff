"""A band in words: "90 % between 3.2 and 3.9", "3.20–3.90 ms"."""

from __future__ import annotations

from typing import Final

from ..cost import BAND_FRACTION, Band
from ..units import three_digits, time_unit

CHANCE: Final = f"{100 * BAND_FRACTION:.0f} %"
"""Of times that lie in a band."""

BAND_NAME: Final = f"{CHANCE} band"


def between(band: Band, unit_seconds: float) -> str:
    """ "90 % between 3.20 and 3.90": a band of floats in a unit that the sentence has already named."""
    low, high = (three_digits(end / unit_seconds) for end in (band.low_seconds, band.high_seconds))
    return f"{CHANCE} between {low} and {high}"


def band_text(band: Band | None, seconds: float, times: int = 1) -> str:
    """ "3.20–3.90 ms": the band of `seconds`, in their unit; empty where nobody knows one.

    Of more than one execution all err alike.
    """
    if band is None:
        return ""
    scale, unit = time_unit(seconds * times)
    low, high = (three_digits(end * times / scale) for end in (band.low_seconds, band.high_seconds))
    return f"{low}–{high} {unit}"


def rate_band_text(band: Band | None, count: int) -> str:
    """ "98.2–120" of a count over seconds that lie in `band`; empty as `band_text`."""
    if band is None or not band.low_seconds:
        return ""
    return f"{three_digits(count / band.high_seconds)}–{three_digits(count / band.low_seconds)}"


def band_at(band: Band | None, index: int) -> Band | None:
    """One point's, as floats, of a band of arrays."""
    if band is None:
        return None
    return Band(float(band.low_seconds[index]), float(band.high_seconds[index]))
