"""The errors of one case as rows of text, all modes side by side: the one place that says how an error reads.

Needs no chart library, so that the command line may use it without the extra `notebook`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..analysis.bands import band_text
from ..cost import Band
from ..errors import unknown_name
from ..units import NO_FIGURE, format_count, format_seconds
from ..validation import VidurExperimentCase, VidurExperimentReport
from ..validation.comparison import CaseComparison, ComponentComparison, percent
from .component_names import component_name
from .error_marks import Bar, Whisker, bar_of, whisker_of
from .error_words import (
    COMPONENT_MAPE,
    EXCLUDED,
    IN_BAND,
    NOT_COUNTED,
    NOT_COVERED,
    SUBTOTAL,
    WORST,
    case_sentences,
    coverage_text,
    excluded_text,
    in_bands_text,
    reference_text,
    reference_words,
    signed_percent,
    size_percent,
    worst_text,
)


@dataclass(frozen=True, slots=True)
class ErrorCell:
    """A component in one mode."""

    mode: str
    estimate: str
    """Of one execution: 26.9 µs; a dash for a subtotal of nothing."""
    error: str
    """Signed, of the reference: −10.4 %; a dash where there is no reference."""
    error_percent: float | None
    """The same as a number."""
    band: str = ""
    """Where nine of ten such times lie: 22.1–30.4 µs; empty in a mode without bands."""
    ends_percent: tuple[float, float] | None = None
    """The band's ends as errors of the measurement; None where either is missing."""
    match: str = ""
    """How the component meets the range that was fitted to: in range; empty in a mode without parameters."""

    @property
    def in_band(self) -> bool | None:
        """Whether the measurement lies in the band; None where either is missing."""
        return None if self.ends_percent is None else self.ends_percent[0] <= 0 <= self.ends_percent[1]

    @property
    def whisker(self) -> Whisker | None:
        """Of the band."""
        return None if self.ends_percent is None else whisker_of(*self.ends_percent)

    @property
    def bar(self) -> Bar | None:
        """Of the error; None where there is none."""
        return None if self.error_percent is None else bar_of(self.error_percent)


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """A component beside its reference."""

    component: str
    """In words."""
    key: str
    """As the plan names it; empty for the subtotal."""
    in_block: bool
    state: str
    """matched, flagged or not-covered."""
    reference: str
    """Measured, of one execution; "not covered" where nothing is."""
    kind: str
    """Of the reason why it is not covered or flagged; empty for most."""
    words: str
    """Why it is not covered or flagged, and what else to know about the reference; empty for most."""
    cells: tuple[ErrorCell, ...]
    """One a mode."""

    @property
    def said(self) -> str:
        """The words, and that a flagged measurement does not count."""
        return f"{NOT_COUNTED}: {self.words}" if self.state == "flagged" else self.words


@dataclass(frozen=True, slots=True)
class CaseErrors:
    """One case of an experiment. Tuples of texts have one for each mode."""

    case: str
    """Its name."""
    title: str
    """Decode step at context 129, batch 1, TP 1."""
    modes: tuple[str, ...]
    rows: tuple[ErrorRow, ...]
    """Components in plan order, without the subtotal."""
    subtotal: ErrorRow
    """Of the matched components of one block."""
    mape: tuple[str, ...]
    """Mean of the absolute errors of matched components of the block: 54.1 %."""
    worst: tuple[str, ...]
    """Largest absolute error and its component: 99.5 % (Input norm)."""
    coverage: str
    """9 of 12 components, 75 %."""
    excluded: tuple[str, ...]
    """Estimated time of the block that is not compared: 5.06 µs of 241 µs, 2.10 %."""
    in_bands: tuple[str, ...]
    """Measurements within their bands: 7 of 9, 78 %; a dash in a mode without bands."""
    sentences: tuple[str, ...]
    """What is compared, what is not and why, where a subtotal hides its components, and what is beyond the fit."""

    @property
    def is_compared(self) -> bool:
        """Whether any component of the block has a reference to rely on."""
        return self.subtotal.state == "matched"

    @property
    def banded_mode(self) -> str:
        """The mode whose estimates have bands; empty where there is none."""
        rows = (*self.rows, self.subtotal)
        return next((cell.mode for row in rows for cell in row.cells if cell.band), "")

    @property
    def heading(self) -> str:
        """The title, after the case's name where that is no part of it: "prefill 128" says nothing more."""
        words = self.case.replace(",", "").casefold().split()
        said = self.title.replace(",", "").casefold().split()
        return self.title if set(words) <= {*said, "prefill", "decode"} else f"{self.case}: {self.title}"

    @property
    def summary(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """(what, a text for each mode): figures that no subtotal gives."""
        return (
            (f"{COMPONENT_MAPE}, mean of the absolute errors", self.mape),
            (WORST, self.worst),
            (f"{EXCLUDED}, of the block's estimate", self.excluded),
            *(((f"{IN_BAND}", self.in_bands),) if self.banded_mode else ()),
        )

    @property
    def by_mode(self) -> tuple[tuple[str, str, str], ...]:
        """(error of the subtotal, mean, worst) of each mode."""
        subtotal = (cell.error for cell in self.subtotal.cells)
        return tuple(zip(subtotal, self.mape, self.worst, strict=True))


def case_names(report: VidurExperimentReport) -> tuple[str, ...]:
    """Names of the cases, in the experiment's order."""
    return tuple(case.case.name for case in report.frozen.cases)


def case_errors(report: VidurExperimentReport, case: str) -> CaseErrors:
    """The errors of the case with the name `case`. Raises `UnknownNameError` for another."""
    of_modes = report.by_case.get(case)
    if of_modes is None:
        raise unknown_name("case", case, case_names(report))
    first = of_modes[0]
    modes = tuple(one.mode for one in of_modes)
    by_component = zip(*(one.components for one in of_modes), strict=True)
    return CaseErrors(
        case=case,
        title=case_title(first.frozen.case),
        modes=modes,
        rows=tuple(_row(modes, components) for components in by_component),
        subtotal=_subtotal(of_modes),
        mape=tuple(size_percent(one.component_mape_percent) for one in of_modes),
        worst=tuple(worst_text(one) for one in of_modes),
        coverage=coverage_text(first),
        excluded=tuple(excluded_text(one) for one in of_modes),
        in_bands=tuple(in_bands_text(one.in_bands) for one in of_modes),
        sentences=case_sentences(of_modes),
    )


def case_title(case: VidurExperimentCase) -> str:
    """What a case estimates, in words."""
    context = format_count(case.context_tokens)
    tokens = f"{context} token{'' if case.context_tokens == 1 else 's'}"
    step = f"Prefill of {tokens}" if case.phase == "prefill" else f"Decode step at context {context}"
    mapping = case.mapping
    stages = f", PP {mapping.pipeline_parallel}" if mapping.pipeline_parallel > 1 else ""
    return f"{step}, batch {format_count(case.batch_size)}, TP {mapping.tensor_parallel}{stages}"


def _row(modes: Sequence[str], of_modes: Sequence[ComponentComparison]) -> ErrorRow:
    """The reference is the same in every mode."""
    first = of_modes[0]
    return ErrorRow(
        component=component_name(first.reference.component),
        key=first.reference.component,
        in_block=first.in_block,
        state=first.reference.state,
        reference=reference_text(first.reference),
        kind=first.reference.kind,
        words=reference_words(first),
        cells=tuple(
            _cell(
                mode,
                one.seconds,
                one.error_percent,
                one.band,
                one.reference.seconds,
                "" if one.band is None or one.origin is None else one.origin.match,
            )
            for mode, one in zip(modes, of_modes, strict=True)
        ),
    )


def _subtotal(of_modes: Sequence[CaseComparison]) -> ErrorRow:
    is_compared = bool(of_modes[0].matched)
    return ErrorRow(
        component=SUBTOTAL,
        key="",
        in_block=True,
        state="matched" if is_compared else "not-covered",
        reference=format_seconds(of_modes[0].reference_seconds) if is_compared else NOT_COVERED,
        kind="",
        words="",
        cells=tuple(
            _cell(
                one.mode, one.comparable_seconds, one.subtotal_error_percent, one.subtotal_band, one.reference_seconds
            )
            if is_compared
            else ErrorCell(one.mode, NO_FIGURE, NO_FIGURE, None)
            for one in of_modes
        ),
    )


def _cell(
    mode: str,
    seconds: float,
    error_percent: float | None,
    band: Band | None,
    reference_seconds: float | None,
    match: str = "",
) -> ErrorCell:
    error = NO_FIGURE if error_percent is None else signed_percent(error_percent)
    ends = None
    if band is not None and reference_seconds is not None:
        ends = (percent(band.low_seconds, reference_seconds), percent(band.high_seconds, reference_seconds))
    return ErrorCell(mode, format_seconds(seconds), error, error_percent, band_text(band, seconds), ends, match)
