"""An explorer and a table of errors to move, and ways to read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ipywidgets
import pytest
import vidur_profiles as profiles
from blueprint_nb_widgets import Explorer, VidurErrorTable
from error_views import GOLDEN, MEASURED

from blueprint_nb.analysis import load_slice
from blueprint_nb.validation import VidurExperimentReport, run_vidur_experiment


@pytest.fixture
def explorer() -> Explorer:
    return Explorer()


@pytest.fixture(scope="session")
def texts_of():
    """All HTML that a widget and its children hold."""

    def walk(widget: Any) -> Iterator[str]:
        if isinstance(widget, ipywidgets.HTML):
            yield widget.value
        for child in getattr(widget, "children", ()):
            yield from walk(child)

    return lambda widget: list(walk(widget))


@pytest.fixture(scope="session")
def report() -> VidurExperimentReport:
    """Three cases of Phi-2 against the slice that ships."""
    return run_vidur_experiment(GOLDEN, load_slice())


@pytest.fixture
def table(report) -> VidurErrorTable:
    return VidurErrorTable(report)


@pytest.fixture
def llama_2(tmp_path):
    """Makes a report of Llama-2-7b; changes are times of the measured row, in milliseconds."""

    def make(*cases, system="a100_80g", **changes):
        baseline = profiles.baseline(
            compute_csv=profiles.write(tmp_path / "mlp.csv", [{**MEASURED, **changes}]),
            hardware_name="a40" if system == "a40_48g" else "a100",
        )
        return run_vidur_experiment(cases or [profiles.case(hardware=system)], baseline)

    return make
