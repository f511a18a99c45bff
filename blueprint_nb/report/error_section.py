"""How wrong an estimate may be, as a section of a page: means, all cases in one view, some of them as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..units import NO_FIGURE, format_count
from ..validation import VidurExperimentReport
from .downloads import Download, errors_download
from .embedding import Figure, figure
from .error_lines import error_lines
from .error_overview import MeanLine, chosen_cases, mean_lines, nothing_sentences
from .error_provenance import provenance_facts
from .error_rows import CaseErrors
from .error_sentences import CLAIM, fitted_sentences, frozen_sentence, topology_sentences
from .error_words import cases_text
from .facts import Fact
from .mode_style import mode_colour


@dataclass(frozen=True, slots=True)
class Room:
    """What a page has room for."""

    tables: int
    """Cases up to which each has its table."""
    tables_of_many: int
    """Tables where there are more cases than that."""
    listed: int
    """Cases in the list."""
    points: int
    """Of all lines together."""
    download: int
    """Characters of the packed download."""
    origin_of_nothing: bool
    """Whether it also says where the measurements come from that nothing was compared with."""


IN_REPORT: Final = Room(tables=3, tables_of_many=2, listed=32, points=1_400, download=30_000, origin_of_nothing=False)
"""A report has other sections, and all of it stays under 1.5 MB."""

ON_PAGE: Final = Room(tables=12, tables_of_many=4, listed=200, points=4_000, download=450_000, origin_of_nothing=True)
"""Of the page of an experiment."""

_WIDTH: Final = 700
_HINT: Final = "Point at a component for estimate, measured time and formula."


@dataclass(frozen=True, slots=True)
class ErrorSection:
    """What the template shows. Where nothing is compared it is words alone."""

    nothing: tuple[str, ...]
    """Why nothing is compared; empty where anything is."""
    modes: tuple[str, ...]
    colours: dict[str, str]
    """Of bars, by mode."""
    means: tuple[MeanLine, ...]
    figure: Figure | None
    tables: tuple[CaseErrors, ...]
    listed: tuple[CaseErrors, ...]
    """Every case, or so many as a page has room for; empty where each has its table."""
    listed_count: str
    """3 cases, 2 of 3 cases."""
    left_out: str
    """What the section does not show; empty where it shows everything."""
    claims: tuple[str, ...]
    provenance: tuple[Fact, ...]
    download: Download | None

    @property
    def has_bands(self) -> bool:
        """Whether any estimate has a band."""
        return any(line.in_band != NO_FIGURE for line in self.means)

    @property
    def is_compared(self) -> bool:
        """Whether any component of any case has a reference to rely on."""
        return not self.nothing


def error_section(report: VidurExperimentReport, room: Room) -> ErrorSection:
    """The section of `report`, as far as there is room."""
    count = len(report.frozen.cases)
    nothing = nothing_sentences(report)
    has_all = count <= room.tables
    tables = () if nothing else chosen_cases(report, count if has_all else room.tables_of_many)
    listed = () if nothing or has_all else chosen_cases(report, room.listed)
    has_origin = room.origin_of_nothing or not nothing
    return ErrorSection(
        nothing=nothing,
        modes=tuple(report.modes),
        colours={mode: mode_colour(mode) for mode in report.modes},
        means=mean_lines(report),
        figure=None if nothing else _figure(report, room.points),
        tables=tables,
        listed=listed,
        listed_count=cases_text(count, len(listed)),
        left_out="" if nothing else _left_out(len(tables), len(listed), count),
        claims=_claims(report) if has_origin else (),
        provenance=tuple(provenance_facts(report)) if has_origin else (),
        download=errors_download(report, room.download) if has_origin else None,
    )


def _claims(report: VidurExperimentReport) -> tuple[str, ...]:
    return (CLAIM, *topology_sentences(report), frozen_sentence(report), *fitted_sentences(report))


def _figure(report: VidurExperimentReport, points: int) -> Figure | None:
    drawn, still = (error_lines(report, width=_WIDTH, hover=hover, most_points=points) for hover in (True, False))
    # The section has the id "errors".
    return None if drawn is None else figure("all-errors", drawn, "Error of each component.", _HINT, still=still)


def _left_out(tables: int, lines: int, cases: int) -> str:
    if tables == cases:
        return ""
    listed = "all are listed below" if lines == cases else f"{format_count(lines)} are listed below"
    return (
        f"{cases_text(cases, tables)} have a table here and {listed}, evenly chosen by their "
        "place; means are over all of them."
    )
