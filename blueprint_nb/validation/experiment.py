"""Running an experiment: estimate everything, freeze it, and only then ask the oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from ..analysis.oracle import oracles_shut
from ..analysis.vidur import VidurProfileBaseline
from ..cost import require_mode
from ..errors import InvalidInputError, shown
from ..mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from ..system import SystemProfile
from ..workload import TransformerModelSpec
from .case import VidurExperimentCase
from .comparison import compare
from .freeze import freeze
from .report import VidurExperimentReport


def run_vidur_experiment(
    cases: Iterable[VidurExperimentCase],
    baseline: VidurProfileBaseline,
    *,
    modes: Sequence[str] | None = None,
    calibration: str | None = None,
) -> VidurExperimentReport:
    """The errors of every case in every mode its system has the figures for, or in those of them in `modes`.

    `calibration` names the parameters of the mode `calibrated`: None means those fitted to Vidur's kernels, or where a
    system has none, its default. Cases and their parts are of the classes themselves: a subclass could ask the oracle.
    Raises `InvalidInputError` for anything else, no case, two of one name, a system without any of the modes, or a
    mapping that can't divide its model; `UnknownNameError` for a mode, or a calibration that does not price a system;
    `UnsupportedError` where a system lacks the datatype.
    """
    if not isinstance(baseline, VidurProfileBaseline):
        raise TypeError(f"an experiment takes a VidurProfileBaseline, got {type(baseline).__name__}")
    with oracles_shut():
        chosen = _checked(cases)
    asked = None if modes is None else [require_mode(mode) for mode in modes]
    frozen = freeze(chosen, baseline.reads, asked, calibration)
    comparisons = [one for case in frozen.cases for one in compare(case, baseline)]
    return VidurExperimentReport(
        frozen, tuple(comparisons), baseline.identity, baseline.revision, tuple(baseline.file_digests.items())
    )


_PARTS: Final = {
    "model": TransformerModelSpec,
    "mapping": TransformerInferenceMappingSpec,
    "network_binding": NetworkTierBinding,
    "hardware": SystemProfile,
}


def _checked(cases: Iterable[VidurExperimentCase]) -> list[VidurExperimentCase]:
    if not isinstance(cases, Iterable):
        raise InvalidInputError("cases", got=shown(cases), rule="must be several VidurExperimentCase")
    chosen = list(cases)
    if not chosen:
        raise InvalidInputError("cases", got="none", rule="must hold at least one case")
    for case in chosen:
        if type(case) is not VidurExperimentCase:
            raise InvalidInputError("cases", got=shown(case), rule="must hold VidurExperimentCase only")
        for name, kind in _PARTS.items():
            if type(getattr(case, name)) is not kind:
                got = f"a {type(getattr(case, name)).__name__}"
                raise InvalidInputError(f"{case.name}.{name}", got=got, rule=f"must be a {kind.__name__} itself")
    name, times = Counter(case.name for case in chosen).most_common(1)[0]
    if times > 1:
        raise InvalidInputError("cases.name", got=f"{name!r} {times} times", rule="must differ from case to case")
    return chosen
