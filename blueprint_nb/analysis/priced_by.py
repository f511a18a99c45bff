"""Which calibration sets a phase was priced with, and what each of them priced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..cost import ComponentCost, CostBlock, Origin

_SET: Final = "calibrated:"
_WORDS: Final = {
    "gemm": "GEMM",
    "rms_norm": "norms",
    "layer_norm": "norms",
    "rope": "RoPE",
    "add": "residual adds",
    "kv_save": "KV save",
    "gated_activation": "activation",
    "attention_decode": "attention",
    "attention_prefill": "attention",
}
_MOST_NAMED: Final = 2
"""Families of one set that a sentence names."""


@dataclass(frozen=True, slots=True)
class SetShare:
    """What one set, or another provider, priced of a phase."""

    name: str
    families: tuple[str, ...]
    """Kernel families as people call them, the costliest first."""
    seconds: float
    """Of them together."""


def shares_of(costs: CostBlock) -> list[SetShare]:
    """Who priced the components of a phase, at its last point; the largest share of the time first."""
    seconds: dict[str, dict[str, float]] = {}
    for activity, cost in costs.priced:
        origin = origin_of(cost)
        own = _last(cost.seconds) * activity.executions
        if origin is not None and own > 0:
            of_set = seconds.setdefault(set_name(origin), {})
            family = family_name(cost.family or activity.primitive)
            of_set[family] = of_set.get(family, 0.0) + own
    shares = [
        SetShare(name, tuple(sorted(found, key=lambda family: -found[family])), sum(found.values()))
        for name, found in seconds.items()
    ]
    return sorted(shares, key=lambda share: -share.seconds)


def calibrated_by(calibration: str, costs: CostBlock) -> str:
    """ "calibrated by vllm-0.24; from vidur: activation, norms and 4 more; from pooled: attention"."""
    others = (f"; from {share.name}: {_few(share.families)}" for share in shares_of(costs) if share.name != calibration)
    return f"calibrated by {calibration}{''.join(others)}"


def origin_of(cost: ComponentCost) -> Origin | None:
    """Where a component's seconds come from, at the last point; None where nobody said."""
    return cost.origins[int(_last(cost.origin_index))] if cost.origins else None


def set_name(origin: Origin) -> str:
    """A calibration's name alone, another provider's as it is."""
    return origin.provider.removeprefix(_SET)


def family_name(family: str) -> str:
    """`rms_norm` is "norms"."""
    return _WORDS.get(family, family.replace("_", " "))


def _few(names: tuple[str, ...]) -> str:
    if len(names) <= _MOST_NAMED + 1:
        return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} more"


def _last(values: Any) -> float:
    return float(np.ravel(values)[-1])
