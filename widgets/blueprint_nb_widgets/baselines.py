"""The measured profiles that an explorer may compare with, and which of them fits a model on a system."""

from __future__ import annotations

from collections.abc import Sequence

from blueprint_nb import SystemProfile, TransformerModelSpec
from blueprint_nb.analysis import VidurProfileBaseline
from blueprint_nb.analysis.vidur import load_slice
from blueprint_nb.analysis.vidur.names import MODELS, SYSTEMS, stands_for
from blueprint_nb.errors import InvalidInputError, shown


class Baselines:
    """`given` None stands for the slice that ships, which is read when it is first asked for."""

    def __init__(self, given: Sequence[VidurProfileBaseline] | None = None) -> None:
        self._given = None if given is None else _checked(given)

    def nearest(self, model: TransformerModelSpec, system: SystemProfile) -> VidurProfileBaseline:
        """The first profile of `model` on `system`; where there is none, the first of all, which then says why."""
        if self._given is None:
            self._given = (load_slice(),)
        fitting = (one for one in self._given if _fits(one, model, system))
        return next(fitting, self._given[0])


def _fits(baseline: VidurProfileBaseline, model: TransformerModelSpec, system: SystemProfile) -> bool:
    identity = baseline.identity
    return model.name in stands_for(identity.model_name, MODELS) and system.name in stands_for(
        identity.hardware_name, SYSTEMS
    )


def _checked(given: Sequence[VidurProfileBaseline]) -> tuple[VidurProfileBaseline, ...]:
    rule = "must be a list of VidurProfileBaseline, or None for the slice that ships"
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InvalidInputError("baselines", got=shown(given), rule=rule)
    for number, one in enumerate(given):
        if not isinstance(one, VidurProfileBaseline):
            raise InvalidInputError(f"baselines[{number}]", got=shown(one), rule="must be a VidurProfileBaseline")
    return tuple(given)
