"""The cases of an experiment as points: which tokens run along the axis, and what else tells cases apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..cost import Band
from ..units import format_count
from ..validation import VidurExperimentCase, VidurExperimentReport
from ..validation.comparison import CaseComparison, holds
from .component_names import component_name
from .context_axis import TITLE as CONTEXT_TITLE
from .error_words import FLAGGED, NOT_COVERED, OUTSIDE, SUBTOTAL, signed_percent

PHASES: Final = ("prefill", "decode")


@dataclass(frozen=True, slots=True)
class ErrorPoint:
    """One component of one case in one mode."""

    component: str
    mode: str
    case: str
    """The case's name."""
    state: str
    seconds: float
    reference_seconds: float | None
    error_percent: float | None
    """Signed; None where nothing covers it."""
    band: Band | None = None
    """Of the estimate; None in a mode without bands."""

    @property
    def in_band(self) -> bool | None:
        """Whether what was measured lies in the band; None where either is missing."""
        return holds(self.band, self.reference_seconds)

    @property
    def error(self) -> str:
        """In words."""
        if self.state == "flagged":
            return FLAGGED
        return NOT_COVERED if self.error_percent is None else signed_percent(self.error_percent)


@dataclass(frozen=True, slots=True)
class Axis:
    """The quantity along which a phase's cases differ most."""

    title: str
    by_batch: bool
    """Whether it counts the tokens of the whole batch."""

    def tokens(self, case: VidurExperimentCase) -> int:
        """Where a case stands."""
        if not self.by_batch:
            return case.context_tokens
        return case.batch_size * (case.context_tokens if case.phase == "prefill" else 1)


def of_phase(report: VidurExperimentReport, phase: str) -> list[CaseComparison]:
    """Comparisons of the cases of a phase in which anything is compared, in the experiment's order."""
    return [one for one in report.comparisons if one.frozen.case.phase == phase and one.matched]


def modes_of(comparisons: Sequence[CaseComparison]) -> list[str]:
    """Their modes, once each."""
    return list(dict.fromkeys(one.mode for one in comparisons))


def cases_of(comparisons: Sequence[CaseComparison]) -> list[VidurExperimentCase]:
    """Their cases, once each."""
    return list({one.frozen.case.name: one.frozen.case for one in comparisons}.values())


def axis_of(cases: Sequence[VidurExperimentCase], phase: str) -> Axis:
    """Context, or where all cases have the same, the tokens of the batch."""
    by_batch = len({case.context_tokens for case in cases}) == 1 and len({case.batch_size for case in cases}) > 1
    if by_batch:
        return Axis("tokens of the whole batch", by_batch=True)
    return Axis("prompt (tokens)" if phase == "prefill" else CONTEXT_TITLE, by_batch=False)


def described(case: VidurExperimentCase) -> dict[str, str]:
    """What may tell cases of a phase apart, besides the tokens along the axis."""
    return {
        "model": case.model.name,
        "system": case.hardware.name,
        "TP": f"TP {case.mapping.tensor_parallel}",
        "PP": f"PP {case.mapping.pipeline_parallel}",
        "batch": f"batch {format_count(case.batch_size)}",
        "datatype": str(case.datatype),
    }


def differing(cases: Sequence[VidurExperimentCase], axis: Axis | None = None) -> list[str]:
    """Names of the descriptions in which `cases` differ."""
    described_cases = [described(case) for case in cases]
    names = [name for name in described(cases[0]) if not (axis is not None and axis.by_batch and name == "batch")]
    return [name for name in names if len({one[name] for one in described_cases}) > 1]


def points_of(one: CaseComparison) -> list[ErrorPoint]:
    """Every component of a comparison in plan order, and the subtotal."""
    case = one.frozen.case.name
    found = [
        ErrorPoint(
            component=component_name(part.reference.component) + ("" if part.in_block else OUTSIDE),
            mode=one.mode,
            case=case,
            state=part.reference.state,
            seconds=part.seconds,
            reference_seconds=part.reference.seconds,
            error_percent=part.error_percent,
            band=part.band,
        )
        for part in one.components
    ]
    subtotal = ErrorPoint(
        SUBTOTAL,
        one.mode,
        case,
        "matched",
        one.comparable_seconds,
        one.reference_seconds,
        one.subtotal_error_percent,
        one.subtotal_band,
    )
    return [*found, subtotal]


def component_order(comparisons: Sequence[CaseComparison]) -> list[str]:
    """Components in plan order, those that only other plans have after them; the subtotal last."""
    names = dict.fromkeys(point.component for one in comparisons for point in points_of(one))
    return [*(name for name in names if name != SUBTOTAL), SUBTOTAL]
