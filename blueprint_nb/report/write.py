"""An estimate as a report, and an experiment as a page, in a file or in a string."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..errors import MissingExtraError
from ..files import whole_file

if TYPE_CHECKING:
    from ..analysis import Estimate
    from ..analysis.vidur import VidurProfileBaseline
    from ..validation import VidurExperimentReport

_NEEDED: Final = ("altair", "jinja2", "vl_convert")


def write_report(
    estimate: Estimate, path: str | os.PathLike[str], baseline: VidurProfileBaseline | None = None
) -> Path:
    """Writes the report to `path`; returns the path. The file appears whole or not at all.

    Its errors are against `baseline`, or against the slice that ships with the project. Raises `MissingExtraError`
    without the extra `notebook`, `InvalidInputError` for what is no path, and `OutputError` where it can't be written.
    """
    require_extra()
    # The file is opened first: a path that can't be written is said before the work is done.
    with whole_file(path) as file:
        file.write(render_report(estimate, baseline).encode())
    return Path(path)


def render_report(estimate: Estimate, baseline: VidurProfileBaseline | None = None) -> str:
    """The report as HTML: one file that asks no host for anything. Equal inputs give equal text.

    Raises `MissingExtraError` without the extra `notebook`.
    """
    require_extra()
    from .page import page

    return page(estimate, baseline)


def write_error_page(report: VidurExperimentReport, path: str | os.PathLike[str]) -> Path:
    """Writes the page of an experiment to `path`; returns the path. Raises as `write_report`."""
    require_extra()
    with whole_file(path) as file:
        file.write(render_error_page(report).encode())
    return Path(path)


def render_error_page(report: VidurExperimentReport) -> str:
    """An experiment's errors as HTML, as self-contained as a report. Equal reports give equal text.

    Raises `MissingExtraError` without the extra `notebook`.
    """
    require_extra()
    from .error_page import error_page

    return error_page(report)


def require_extra() -> None:
    """Raises `MissingExtraError` where a library of the extra `notebook` is missing."""
    for name in _NEEDED:
        try:
            import_module(name)
        except ImportError:
            raise MissingExtraError(
                "report",
                rule=f"needs {name}, which is not installed",
                next_step="Run: pip install 'blueprint-nb[notebook]' (in a checkout: pip install '.[notebook]')",
            ) from None
