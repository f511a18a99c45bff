"""Names to choose from, and what each stands for: the profiles that ship, and the one that was given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

from blueprint_nb import SystemProfile, TransformerModelSpec

Spec = TypeVar("Spec", bound=TransformerModelSpec | SystemProfile)


class Shelf(Generic[Spec]):
    """`given` may be a name, a file or a spec; as a spec or a file it goes before a profile of the same name."""

    def __init__(
        self, names: Iterable[str], load: Callable[[str | Path | Spec], Spec], given: str | Path | Spec
    ) -> None:
        self._load = load
        self.given = load(given)
        self.names = tuple(dict.fromkeys((*names, self.given.name)))

    def load(self, name: str) -> Spec:
        """The spec of a name. Raises as the catalog does."""
        return self.given if name == self.given.name else self._load(name)
