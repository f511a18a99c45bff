"""Assertions that nothing asks for: a name or shape that the plan does not have changes no figure, and is told of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from ..cost import Activity, AssertedProvider
from ..words import few
from .inputs import Stacked

if TYPE_CHECKING:
    from .estimate import Estimate

_MOST_NAMED: Final = 3


class Unasked:
    """The assertions among the `stacked` that no step which it was shown asks for."""

    def __init__(self, stacked: Iterable[Stacked]) -> None:
        self._providers = [one.provider for one in stacked if isinstance(one.provider, AssertedProvider)]
        self._asked: list[np.ndarray] | None = None

    def see(self, activity: Activity) -> None:
        """Takes a step, or many at once, into account."""
        asked = [provider.asked(activity) for provider in self._providers]
        before = self._asked or asked
        self._asked = [one | other for one, other in zip(before, asked, strict=True)]

    @property
    def labels(self) -> list[str]:
        """What they are called; none before any step was seen."""
        seen = zip(self._providers, self._asked or [], strict=False)
        return [label for provider, asked in seen for label in provider.labels(~asked)]


def unasked_by(estimate: Estimate) -> list[str]:
    """What was asserted that neither the prefill nor any decode step of `estimate` asks for."""
    unasked = Unasked(estimate.inputs.stacked)
    unasked.see(estimate.prefill.costs.activity)
    if estimate.decode_costs is not None:
        unasked.see(estimate.decode_costs.activity)
    return unasked.labels


def unasked_in_words(labels: list[str]) -> str:
    """ "asserted but not asked for: rope, timings.csv:3 (gemm 4 × 8 × 8)"; empty where there is nothing to say."""
    return f"asserted but not asked for: {few(labels, _MOST_NAMED)}" if labels else ""
