"""`user-asserted`: seconds that a user gives, by kernel and shape or for a whole component, taken at their word.

A figure of a component holds for each of its executions, whatever the shape: in the prefill and in every decode step.
It has no error of its own, so it adds nothing to a band.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from .._canonical import digest
from .._schema import as_number
from ..errors import InvalidInputError, shown, unknown_name
from ..mapping import NetworkTierBinding
from ..synthesizer.components import BLOCK, EMBEDDING, HEAD, HOP
from ..system import SystemProfile
from ..words import few
from .activity import Activity, ComponentActivity
from .asserted_file import SECONDS_RULE, is_time, read_asserted
from .bands import Band
from .block import ComponentCost, CostBlock
from .claims import block_of_claims, merged
from .host_overhead import HOST_OVERHEAD
from .kernels import Kernel, kernels_of
from .origin import Origin
from .provider import Claim, CostProvider
from .shape_table import ShapeTable
from .stated import cost_at_peak, covered, is_silent, known_places, stated_cost

_RULES: Final = (*EMBEDDING, *BLOCK, HOP, *HEAD)
_NAMES: Final = tuple(dict.fromkeys((*(rule.component for rule in _RULES), HOST_OVERHEAD)))
_PRIMITIVES: Final = frozenset(rule.primitive for rule in _RULES)
_MOST_NAMED: Final = 3

USER_ASSERTED: Final = "user-asserted"
"""The method of figures that a user states."""

BY_COMPONENT: Final = "by component"
"""How seconds match that hold for a component whatever its shape."""


class AssertedProvider(CostProvider):
    """Prices with a user's figures; silent about everything else."""

    method = USER_ASSERTED

    def __init__(self, asserted: str | os.PathLike[str] | Mapping[str, float]) -> None:
        """From a CSV file (see `asserted_file`) or component to seconds.

        A component goes by its name, or by a primitive's for each component that is one. Raises `UnknownNameError`,
        `InvalidInputError` and `ProfileError`.
        """
        self._components: dict[str, float] = {}
        self._table, self._seconds = ShapeTable(), np.zeros(0)
        self._places: tuple[str, ...] = ()
        self._kernels: tuple[str, ...] = ()
        if isinstance(asserted, Mapping):
            self._components = _checked(asserted)
            self.name = f"user-asserted:{few(list(self._components), _MOST_NAMED)}"
            self.revision = digest(self._components)
        else:
            self._read(_path(asserted))

    @property
    def asserts_host(self) -> bool:
        """Whether it says anything of the host's time."""
        return HOST_OVERHEAD in self._components or "host" in self._table.families

    def asked(self, activity: Activity) -> Any:
        """Which of its assertions a step asks for, in the order they were given: bool of shape (assertions,)."""
        found = np.zeros(len(self._components) + len(self._seconds), dtype=bool)
        names = list(self._components)
        for component in activity.components:
            if (name := self._name_of(component)) is not None:
                found[names.index(name)] = True
            for _, places, covers in self._stated(component, activity):
                found[np.unique(known_places(places, covers))] = True
        return found

    def labels(self, chosen: Any) -> list[str]:
        """What the assertions are called that `chosen` (as `asked` gives) marks.

        "attention_core", "timings.csv:3 (gemm 4 × 4,096 × 4,096)".
        """
        names = list(self._components)
        return [
            names[index] if names else f"{self._places[index]} ({self._kernels[index]})"
            for index in np.flatnonzero(chosen).tolist()
        ]

    def cost(self, activity: Activity, system: SystemProfile, network: NetworkTierBinding) -> CostBlock:
        """Of a block that is asserted from end to end. Raises `InvalidInputError` for any other."""
        return block_of_claims(self, activity, system, network, self._refusal)

    def _refusal(self, component: ComponentActivity) -> InvalidInputError:
        rule, next_step = f"has no seconds in {self.name} at every point", "Stack another provider behind it."
        return InvalidInputError(component.component, got=component.primitive, rule=rule, next_step=next_step)

    def claims(
        self, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> tuple[Claim | None, ...]:
        """A claim on each component that is asserted, at the points whose shape is."""
        return tuple(self._claim(component, activity, system, network) for component in activity.components)

    def explanation(
        self, component: ComponentActivity, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> str:
        """ "asserted by timings.csv:3"; empty where some point is not."""
        claim = self._claim(component, activity, system, network)
        if claim is None or not np.all(claim.covers):
            return ""
        origin = claim.cost.origins[int(np.ravel(claim.cost.origin_index)[-1])]
        return f"asserted by {', '.join(origin.records) or 'the user'}"

    def _read(self, path: Path) -> None:
        rows = read_asserted(path)
        self.name = f"user-asserted:{path.name}"
        self._table = ShapeTable.of((row.family, row.datatype, row.shape) for row in rows)
        self._seconds = np.array([row.seconds for row in rows])
        self._places = tuple(f"{path.name}:{row.line}" for row in rows)
        self._kernels = tuple(row.kernel for row in rows)
        self.revision = digest([[row.family, row.datatype, row.shape, row.seconds] for row in rows])

    def _claim(
        self, component: ComponentActivity, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> Claim | None:
        if (name := self._name_of(component)) is not None:
            return Claim(self._whole(name, cost_at_peak(component, activity, system, network)))
        found: Claim | None = None
        for kernel, places, covers in self._stated(component, activity):
            at_peak = cost_at_peak(component, activity, system, network)
            found = merged(found, Claim(self._shaped(kernel.family, places, covers, at_peak), covers))
        return found

    def _name_of(self, component: ComponentActivity) -> str | None:
        """By which a component's seconds were given; None where they were not."""
        names = () if is_silent(component) else (component.component, component.primitive)
        return next((name for name in names if name in self._components), None)

    def _stated(self, component: ComponentActivity, activity: Activity) -> Iterator[tuple[Kernel, Any, Any]]:
        """Each kernel of a component that the file has at some point, with the places of its rows, and where."""
        for kernel in () if is_silent(component) else kernels_of(component, activity.statistics):
            places = self._table.find(kernel, activity.datatype)
            covers = False if places is None else covered(kernel, places)
            if np.any(covers):
                yield kernel, places, covers

    def _whole(self, name: str, at_peak: ComponentCost) -> ComponentCost:
        seconds = np.full(np.shape(at_peak.seconds), self._components[name])
        family = "host" if name == HOST_OVERHEAD else name
        return stated_cost(seconds, Band(seconds, seconds), family, (self._origin(BY_COMPONENT),), 0, at_peak)

    def _shaped(self, family: str, places: Any, covers: Any, at_peak: ComponentCost) -> ComponentCost:
        places = known_places(places, covers)
        present, index = np.unique(places, return_inverse=True)
        seconds = self._seconds[places]
        origins = tuple(self._origin("exact shape", (self._places[place],)) for place in present.tolist())
        return stated_cost(seconds, Band(seconds, seconds), family, origins, index.reshape(np.shape(places)), at_peak)

    def _origin(self, match: str, records: tuple[str, ...] = ()) -> Origin:
        return Origin(self.name, self.revision, self.method, match, records)


def _path(asserted: object) -> Path:
    path = os.fspath(asserted) if isinstance(asserted, (str, os.PathLike)) else ""
    if not path or not isinstance(path, str):
        rule = "must be the path of a CSV file, or component to seconds such as {'attention_core': 45e-6}"
        raise InvalidInputError("asserted", got=shown(asserted), rule=rule)
    return Path(path)


def _checked(asserted: Mapping[str, float]) -> dict[str, float]:
    if not asserted:
        rule = "must name at least one component"
        raise InvalidInputError("asserted", got=shown(asserted), rule=rule, next_step="Leave it out.")
    found = {}
    for name, seconds in asserted.items():
        if not isinstance(name, str) or (name not in _NAMES and name not in _PRIMITIVES):
            raise unknown_name("asserted", name, {*_NAMES, *_PRIMITIVES})
        try:
            number = as_number(seconds)
        except InvalidInputError:
            number = -1.0
        if not is_time(number):
            raise InvalidInputError(f"asserted[{name!r}]", got=shown(seconds), rule=SECONDS_RULE)
        found[name] = number
    return found
