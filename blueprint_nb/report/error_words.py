"""How errors read: signed percents with a true minus, what a subtotal hides, why nothing is compared.

It words what `validation.comparison` computed, and computes no error of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ..analysis.vidur import VidurReference
from ..units import NO_FIGURE, format_count, format_seconds, three_digits
from ..validation.comparison import CaseComparison, ComponentComparison
from ..validation.pricing import CALIBRATED
from .component_names import component_name
from .error_marks import FULL_PERCENT

NOT_COVERED: Final = "not covered"
FLAGGED: Final = "flagged"
NOT_COUNTED: Final = f"{FLAGGED}, not counted"

OUTSIDE: Final = " †"
"""Marks a component outside the block in a chart."""
OUTSIDE_WORDS: Final = "outside the block: in no subtotal and no mean"

SUBTOTAL: Final = "Subtotal (compared)"
"""Of the matched components of a block."""
COMPONENT_MAPE: Final = "Component MAPE"
WORST: Final = "Worst component"
EXCLUDED: Final = "Not compared"
BAND: Final = "90 % band"
IN_BAND: Final = f"Measured within the {BAND}"
"""Figures of a case that no subtotal gives."""

_IN_RANGE: Final = "in range"
"""How a provider says that nothing was stretched."""

_LONGEST_SHORT: Final = 99.9
"""The largest error below 100 % in three digits."""

_HIDDEN_POINTS: Final = 10.0
"""A subtotal this much smaller than a component's error says too little about it."""


def signed_percent(percent: float) -> str:
    """−99.5 %, +5.71 %, +1,240 %: three digits, never more than two decimals, and −100 % for no time at all alone."""
    size = min(-percent, _LONGEST_SHORT) if -FULL_PERCENT < percent < 0 else abs(percent)
    text = three_digits(size) if size >= 1 else f"{size:.2f}"
    return _signed(f"{text} %", percent)


def whole_percent(percent: float) -> str:
    """−26 %. What takes any time at all is never said to be −100 %."""
    rounded = max(round(percent), -99) if percent > -FULL_PERCENT else round(percent)
    return _signed(f"{abs(rounded):,} %", rounded)


def size_percent(percent: float | None) -> str:
    """A mean or a largest error, which has no sign: 54.1 %."""
    return NO_FIGURE if percent is None else f"{three_digits(percent)} %"


def reference_text(reference: VidurReference) -> str:
    """What was measured; its state in words where nothing was."""
    return NOT_COVERED if reference.seconds is None else format_seconds(reference.seconds)


def reference_words(one: ComponentComparison) -> str:
    """What a reader should know about a component's reference; empty for most."""
    reference = one.reference
    said = [reference.reason, reference.note, _samples(reference)]
    if not one.in_block:
        said.append(OUTSIDE_WORDS)
    return "; ".join(text for text in said if text)


def coverage_text(one: CaseComparison) -> str:
    """9 of 12 components, 75 %."""
    counted = f"{len(one.matched)} of {len(one.in_block)} components, {round(100 * one.coverage)} %"
    return f"{counted}, {one.flagged_count} more {FLAGGED}" if one.flagged_count else counted


def excluded_text(one: CaseComparison) -> str:
    """5.06 µs of 241 µs, 2.10 %: estimated, of one block."""
    whole, excluded = float(one.estimate.block_seconds), one.excluded_seconds
    if not excluded:
        return "none"
    return f"{format_seconds(excluded)} of {format_seconds(whole)}, {size_percent(100 * excluded / whole)}"


def in_bands_text(in_bands: Sequence[bool]) -> str:
    """7 of 9 components, 78 %; a dash where nothing has a band."""
    if not in_bands:
        return NO_FIGURE
    count, whole = sum(in_bands), len(in_bands)
    return f"{format_count(count)} of {format_count(whole)}, {round(100 * count / whole)} %"


def in_line(name: str) -> str:
    """A figure's name within a sentence: worst component."""
    return name[0].lower() + name[1:]


def part_of(part: int, whole: int) -> str:
    """2 of 3; where it is all, 3."""
    return format_count(whole) if part == whole else f"{format_count(part)} of {format_count(whole)}"


def cases_text(whole: int, part: int | None = None) -> str:
    """3 cases, 1 case, 2 of 3 cases."""
    return f"{part_of(whole if part is None else part, whole)} case{'' if whole == 1 else 's'}"


def case_sentences(of_modes: Sequence[CaseComparison]) -> tuple[str, ...]:
    """What is compared, what is not and why, and where a subtotal hides its components. One case, its modes."""
    first = of_modes[0]
    if not first.matched:
        return (_nothing(first),)
    hiding = [text for one in of_modes if (text := hidden_sentence(one))]
    beyond = [text for one in of_modes if (text := beyond_sentence(one))]
    return (f"Compared: {coverage_text(first)}.", *_left_out(first), *hiding, *beyond)


def beyond_sentence(one: CaseComparison) -> str:
    """Which compared components were priced outside what was fitted to, and how; empty where none was."""
    found: dict[str, list[str]] = {}
    for part in one.matched:
        if part.origin is not None and part.origin.method == CALIBRATED and part.origin.match != _IN_RANGE:
            found.setdefault(part.origin.match, []).append(component_name(part.reference.component))
    listed = "; ".join(f"{', '.join(names)} ({match})" for match, names in found.items())
    return f"{one.mode}: beyond what was fitted to: {listed}." if listed else ""


def hidden_sentence(one: CaseComparison) -> str:
    """The sentence for a subtotal that looks better than its components; empty where it does not."""
    errors, subtotal = one.errors_percent, one.subtotal_error_percent
    if subtotal is None or len(errors) < 2:
        return ""
    low, high = min(errors), max(errors)
    cancels = round(low) < 0 < round(high)
    if not cancels and max(-low, high) < abs(subtotal) + _HIDDEN_POINTS:
        return ""
    span = f"components between {whole_percent(low)} and {whole_percent(high)}"
    return f"{one.mode}: subtotal {whole_percent(subtotal)} hides {span}{', which partly cancel' if cancels else ''}."


def worst_text(one: CaseComparison) -> str:
    """99.5 % (Input norm)."""
    if one.worst is None:
        return NO_FIGURE
    return f"{size_percent(one.component_max_percent)} ({component_name(one.worst.reference.component)})"


def _nothing(one: CaseComparison) -> str:
    reasons = Counter((component.reference.kind, component.reference.detail) for component in one.in_block)
    (kind, detail), count = reasons.most_common(1)[0]
    said = f"Nothing is compared: {kind}, {detail}"
    others = len(one.in_block) - count
    return f"{said}; {others} of {len(one.in_block)} components for other reasons." if others else f"{said}."


def _left_out(one: CaseComparison) -> list[str]:
    """Components of the block that are not compared, by the kind of reason."""
    kinds: dict[str, list[str]] = {}
    for component in one.in_block:
        if not component.reference.is_matched:
            name = component_name(component.reference.component)
            kinds.setdefault(component.reference.kind, []).append(name)
    listed = "; ".join(f"{', '.join(names)} ({kind})" for kind, names in kinds.items())
    return [f"{EXCLUDED}: {listed}."] if listed else []


def _samples(reference: VidurReference) -> str:
    if reference.samples < 2:
        return ""
    spread = reference.spread_seconds or 0.0
    said = f"spread {format_seconds(spread)}" if spread else "all equal"
    return f"median of {format_count(reference.samples)} rows, {said}"


def _signed(text: str, value: float) -> str:
    is_zero = not any(digit in text for digit in "123456789")
    return text if is_zero else f"{'+' if value > 0 else '−'}{text}"
