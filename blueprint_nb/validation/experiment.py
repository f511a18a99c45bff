"""Running an experiment: estimate everything, freeze it, and only then ask the oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..analysis.vidur import VidurProfileBaseline
from ..errors import InvalidInputError, shown
from .case import VidurExperimentCase
from .comparison import compare
from .freeze import freeze
from .report import VidurExperimentReport


def run_vidur_experiment(cases: Iterable[VidurExperimentCase], baseline: VidurProfileBaseline) -> VidurExperimentReport:
    """The errors of every case in every mode its system has the figures for.

    Raises `InvalidInputError` for no case, two of one name, or a mapping that can't divide its model.
    """
    chosen = _checked(cases)
    if not isinstance(baseline, VidurProfileBaseline):
        raise TypeError(f"an experiment takes a VidurProfileBaseline, got {type(baseline).__name__}")
    frozen = freeze(chosen)
    comparisons = [one for case in frozen.cases for one in compare(case, baseline.references(case.subject))]
    return VidurExperimentReport(
        frozen, tuple(comparisons), baseline.identity, baseline.revision, baseline.file_digests
    )


def _checked(cases: Iterable[VidurExperimentCase]) -> list[VidurExperimentCase]:
    chosen = list(cases)
    if not chosen:
        raise InvalidInputError("cases", got="none", rule="must hold at least one case")
    for case in chosen:
        if not isinstance(case, VidurExperimentCase):
            raise InvalidInputError("cases", got=shown(case), rule="must hold VidurExperimentCase only")
    name, times = Counter(case.name for case in chosen).most_common(1)[0]
    if times > 1:
        raise InvalidInputError("cases.name", got=f"{name!r} {times} times", rule="must differ from case to case")
    return chosen
