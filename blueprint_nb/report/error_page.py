"""The page of an experiment: how wrong its estimates are. Needs Altair, vl-convert and Jinja2."""

from __future__ import annotations

from ..units import format_count
from ..validation import VidurExperimentReport
from .error_section import ON_PAGE, error_section
from .error_words import cases_text
from .shell import rendered

_NAMED = 2


def error_page(report: VidurExperimentReport) -> str:
    """The whole HTML text."""
    content = {
        "title": _title(report),
        "case_count": cases_text(len(report.frozen.cases)),
        "errors": error_section(report, ON_PAGE),
    }
    return rendered("error_page.html.j2", content)


def _title(report: VidurExperimentReport) -> str:
    cases = [frozen.case for frozen in report.frozen.cases]
    models = _named([case.model.name for case in cases], "models")
    systems = _named([case.hardware.name for case in cases], "systems")
    return f"{models} on {systems} against measured kernels"


def _named(names: list[str], what: str) -> str:
    distinct = list(dict.fromkeys(names))
    return " and ".join(distinct) if len(distinct) <= _NAMED else f"{format_count(len(distinct))} {what}"
