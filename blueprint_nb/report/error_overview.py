"""Many cases at a glance: the means of each mode, some of the cases, and the words for where nothing is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..thinning import kept_indices
from ..units import NO_FIGURE, format_count
from ..validation import VidurExperimentReport
from .error_rows import CaseErrors, case_errors, case_names
from .error_words import part_of, size_percent

_MOST_REASONS: Final = 4
_OF_ANOTHER: Final = ("other model", "other hardware")


@dataclass(frozen=True, slots=True)
class MeanLine:
    """A mode over all cases."""

    mode: str
    subtotal: str
    component: str
    worst: str
    in_band: str
    """Measurements within their bands: 24 of 27, 89 %; a dash in a mode without bands."""
    coverage: str
    cases: str


def mean_lines(report: VidurExperimentReport) -> tuple[MeanLine, ...]:
    """A line for each mode."""
    return tuple(_mean(row) for row in report.means.to_dicts())


def chosen_cases(report: VidurExperimentReport, most: int) -> tuple[CaseErrors, ...]:
    """Every case, or `most` of them, evenly chosen by their place."""
    names = case_names(report)
    return tuple(case_errors(report, names[index]) for index in kept_indices(len(names), most))


def nothing_sentences(report: VidurExperimentReport) -> tuple[str, ...]:
    """Why nothing at all is compared; empty where anything is."""
    if any(one.matched for one in report.comparisons):
        return ()
    kinds = {component.reference.kind for one in report.comparisons for component in one.in_block}
    if not kinds.isdisjoint(_OF_ANOTHER):
        return (_not_at_hand(report),)
    said = dict.fromkeys(sentence for name in case_names(report) for sentence in case_errors(report, name).sentences)
    more = [f"{format_count(len(said) - _MOST_REASONS)} more reasons are in the download."]
    return (*list(said)[:_MOST_REASONS], *(more if len(said) > _MOST_REASONS else []))


def _not_at_hand(report: VidurExperimentReport) -> str:
    cases = [one.case for one in report.frozen.cases]
    asked = _any_of(dict.fromkeys(f"{case.model.name} on {case.hardware.name}" for case in cases))
    baseline = report.baseline
    return (
        f"No measured profile of {asked} is at hand: nothing of this estimate was compared. The profile at hand is of "
        f"{baseline.model_name} on {baseline.hardware_name}; what is missing is neither interpolated nor borrowed from "
        "another machine. blueprint_nb.analysis.VidurCorpus reads other profiles."
    )


def _any_of(names: dict[str, None]) -> str:
    listed = list(names)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"


def _mean(row: dict[str, Any]) -> MeanLine:
    cases, compared = row["case_count"], row["compared_case_count"]
    return MeanLine(
        mode=row["mode"],
        subtotal=size_percent(row["subtotal_mape_percent"]),
        component=size_percent(row["component_mape_percent"]),
        worst=size_percent(row["component_max_percent"]),
        in_band=NO_FIGURE if not row["band_count"] else _share(row["in_band_share"], row["band_count"]),
        coverage=size_percent(100 * row["coverage"]),
        cases=part_of(compared, cases),
    )


def _share(fraction: float, whole: int) -> str:
    """24 of 27, 89 %."""
    return f"{format_count(round(fraction * whole))} of {format_count(whole)}, {round(100 * fraction)} %"
