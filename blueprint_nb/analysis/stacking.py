"""What a user puts before a mode: figures of their own first, then what was measured on the very system, as it is or
to learn from.

Observations name a device as their source does. Those count for a system whose calibrations were fitted to that device
of that source, and those whose target is the system's own name; a what-if is a device that nobody measured, unless it
differs in nothing that kernels feel.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..catalog import POOLED, load_calibration, profiles_folder, read_record
from ..cost import (
    AssertedProvider,
    ExactEvidenceProvider,
    LearnedResidualProvider,
    NoiseFloors,
    evidence_providers,
)
from ..errors import InvalidInputError, shown
from ..evidence import PerformanceDatabase, checked
from ..system import SystemProfile
from .inputs import Stacked
from .providers import set_provider

if TYPE_CHECKING:
    import polars as pl

    Evidence = PerformanceDatabase | pl.DataFrame | str | os.PathLike[str]
    Asserted = str | os.PathLike[str] | Mapping[str, float]


def stacked_before(
    system: SystemProfile,
    evidence: Evidence | None = None,
    asserted: Asserted | None = None,
    learned_from: Evidence | None = None,
    calibration: str = "",
) -> tuple[Stacked, ...]:
    """Whom to ask before the mode, in order: `asserted`, then every source of the `evidence`, which are equals, then
    what was `learned_from` other evidence about the `calibration`, which is empty in other modes than `calibrated`.

    Raises `InvalidInputError` for evidence of other systems, and as `PerformanceDatabase`, `evidence.checked`,
    `AssertedProvider` and `LearnedResidualProvider` do.
    """
    providers: list[AssertedProvider | ExactEvidenceProvider | LearnedResidualProvider] = []
    if asserted is not None:
        providers.append(AssertedProvider(asserted))
    if evidence is not None:
        providers += evidence_providers(_of_system(evidence, system, "evidence"), _noise())
    if learned_from is not None:
        if not calibration:
            rule = "belongs to mode='calibrated', the only one that it can correct"
            next_step = "Leave it out, or choose that mode."
            raise InvalidInputError("learned_from", got=_in_words(learned_from), rule=rule, next_step=next_step)
        alone = "" if calibration == POOLED else "With calibration='pooled': "
        observations = _of_system(learned_from, system, "learned_from", alone)
        providers.append(LearnedResidualProvider(observations, set_provider(system, calibration)))
    return tuple(Stacked(name=one.name, method=one.method, revision=one.revision, provider=one) for one in providers)


def _in_words(evidence: object) -> str:
    """Short, whatever it is."""
    import polars as pl

    return f"{len(evidence):,} observations" if isinstance(evidence, pl.DataFrame) else shown(evidence)


def _of_system(evidence: object, system: SystemProfile, argument: str, given: str = "") -> pl.DataFrame:
    """The observations of `system` in what was given for an `argument`; `given` comes before what to do."""
    import polars as pl

    devices = sorted(_devices(system))
    names = [system.name, *([system.base_name] if system.calibrations else [])]
    targets = [*names, *(target for _, target in devices)]
    database = _database(evidence, argument)
    frame = checked(evidence) if database is None else database.where(target=targets)
    is_own = pl.col("target").is_in(names)
    for source, target in devices:
        is_own = is_own | ((pl.col("source") == source) & (pl.col("target") == target))
    found = frame.filter(is_own)
    if not len(found):
        held = frame if database is None else database.observations
        pairs = held.select("target", "source").unique().sort("target", "source").rows()
        when = "where" if given else "Where"
        words = [f"of {target} from {source}" for source, target in devices]
        raise InvalidInputError(
            argument,
            got=", ".join(f"{target} from {source}" for target, source in pairs[:8]) or "no observation",
            rule=f"must hold observations {', '.join([*words, f'of the target {system.name}'])}",
            next_step=f"{given}{when} one of them is this device, write {system.name} in its column target.",
        )
    return found


def _database(evidence: object, argument: str) -> PerformanceDatabase | None:
    """A database, opened where it is a path; None for a frame."""
    import polars as pl

    if isinstance(evidence, PerformanceDatabase):
        return evidence
    if isinstance(evidence, (str, os.PathLike)) and os.fspath(evidence):
        return PerformanceDatabase(evidence)
    if isinstance(evidence, pl.DataFrame):
        return None
    rule = "must be a PerformanceDatabase, the path of one, or a polars DataFrame of observations"
    raise InvalidInputError(argument, got=shown(evidence), rule=rule)


def _devices(system: SystemProfile) -> set[tuple[str, str]]:
    """(source, its name of the device) of the calibrations of `system`."""
    sets: list[Any] = [load_calibration(name, system) for name in system.calibrations]
    return {(one.source, one.target) for one in sets if one.target}


def _noise() -> NoiseFloors:
    return read_record(profiles_folder() / "noise_floors.json", NoiseFloors)
