"""Rates and shares, which what takes no time does not have: neither infinite nor 0, they are missing."""

from __future__ import annotations

from ..units import NO_FIGURE, format_percent, three_digits


def ratio(part: float, whole: float) -> float | None:
    """`part` over `whole`: a count over seconds, or seconds of a step over all its seconds; None where those are 0."""
    return part / whole if whole else None


def rate_text(rate: float | None, unit: str = "") -> str:
    """ "118", "118 tokens/s"; "–" where there is none."""
    return NO_FIGURE if rate is None else f"{three_digits(rate)} {unit}".rstrip()


def share_text(share: float | None) -> str:
    """ "24.8 %"; "–" where there is none."""
    return NO_FIGURE if share is None else format_percent(share)
