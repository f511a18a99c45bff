"""What every IR must hold: unique ids, references that are known, and an order that respects them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..errors import IntegrityError, shown


def check_unique(field: str, ids: Iterable[str]) -> None:
    """Raises `IntegrityError` if an id occurs twice."""
    twice = [name for name, times in Counter(ids).items() if times > 1]
    if twice:
        raise IntegrityError(field, got=shown(twice[0]), rule="must have unique ids")


def check_order(field: str, nodes: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Raises `IntegrityError` unless each node comes after all it refers to, so that the graph is an ordered DAG."""
    known = {name for name, _ in nodes}
    seen: set[str] = set()
    for name, references in nodes:
        for reference in references:
            if reference not in known:
                raise IntegrityError(f"{field}.{name}", got=shown(reference), rule="must refer to a known id")
            if reference not in seen:
                raise IntegrityError(f"{field}.{name}", got=shown(reference), rule="must refer to an earlier id")
        seen.add(name)
