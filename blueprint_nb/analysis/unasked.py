"""What a user stacked in vain: an assertion whose name or shape the plan does not have, and a learned layer that no
kernel comes near, change no figure, and are told of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ..cost import LEARNED_RESIDUAL, AssertedProvider, CostBlock
from ..words import few
from .inputs import Stacked

if TYPE_CHECKING:
    from .estimate import Estimate

_MOST_NAMED: Final = 3


class Unasked:
    """The assertions among the `stacked` that no step which it was shown asks for, and layers that correct none."""

    def __init__(self, stacked: Sequence[Stacked]) -> None:
        self._providers = [one.provider for one in stacked if isinstance(one.provider, AssertedProvider)]
        self._asked: list[np.ndarray] | None = None
        self._layers = [one.name for one in stacked if one.method == LEARNED_RESIDUAL]
        self._heard: set[str] | None = None

    def see(self, costs: CostBlock) -> None:
        """Takes a step, or many at once, into account."""
        asked = [provider.asked(costs.activity) for provider in self._providers]
        before = self._asked or asked
        self._asked = [one | other for one, other in zip(before, asked, strict=True)]
        self._heard = (self._heard or set()).union(origin.provider for cost in costs.costs for origin in cost.origins)

    @property
    def labels(self) -> list[str]:
        """What they are called; none before any step was seen."""
        seen = zip(self._providers, self._asked or [], strict=False)
        return [label for provider, asked in seen for label in provider.labels(~asked)]

    @property
    def in_words(self) -> str:
        """ "asserted but not asked for: rope, timings.csv:3 (gemm 4 × 8 × 8); learned-residual:vidur corrects nothing";
        empty where there is nothing to say.
        """
        labels = self.labels
        idle = [] if self._heard is None else [name for name in self._layers if name not in self._heard]
        said = [f"asserted but not asked for: {few(labels, _MOST_NAMED)}"] if labels else []
        return "; ".join([*said, *(f"{name} corrects nothing" for name in idle)])


def unasked_by(estimate: Estimate) -> Unasked:
    """What was stacked that neither the prefill nor any decode step of `estimate` asks for."""
    unasked = Unasked(estimate.inputs.stacked)
    unasked.see(estimate.prefill.costs)
    if estimate.decode_costs is not None:
        unasked.see(estimate.decode_costs)
    return unasked
