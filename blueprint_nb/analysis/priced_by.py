"""Which calibration sets a phase was priced with, and what each of them priced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..cost import BY_COMPONENT, USER_ASSERTED, CalibrationSet, ComponentCost, CostBlock, Origin
from ..words import few

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
    """Who priced what takes time in a phase, at its last point; the largest share of the time first."""
    return [share for share in _shares(costs) if share.seconds]


def _shares(costs: CostBlock) -> list[SetShare]:
    """As `shares_of`, with what was asserted to take no time."""
    seconds: dict[str, dict[str, float]] = {}
    for activity, cost in costs.priced:
        origin = origin_of(cost)
        own = _last(cost.seconds) * activity.executions
        if origin is not None and (own > 0 or origin.method == USER_ASSERTED):
            of_set = seconds.setdefault(set_name(origin), {})
            family = family_name(cost.family or activity.primitive)
            of_set[family] = of_set.get(family, 0.0) + own
    shares = [
        SetShare(name, tuple(sorted(found, key=lambda family: -found[family])), sum(found.values()))
        for name, found in seconds.items()
    ]
    return sorted(shares, key=lambda share: -share.seconds)


def calibrated_by(calibration: str, costs: CostBlock) -> str:
    """ "calibrated by vllm-0.24; from vidur: activation, norms and 4 more; from pooled: attention".

    A set that is not the first by time says what is its own: "calibrated by vidur: all reduce; from vllm-0.14: ...".
    """
    shares = _shares(costs)
    of_set = next((share for share in shares if share.name == calibration), None)
    if of_set is None:
        own = f"calibrated, but nothing of it by {calibration}"
    elif of_set is shares[0]:
        own = f"calibrated by {calibration}"
    else:
        own = f"calibrated by {calibration}: {_and(of_set.families)}"
    others = (f"; from {share.name}: {_and(share.families)}" for share in shares if share is not of_set)
    return f"{own}{''.join(others)}"


def families_of(calibration: CalibrationSet) -> tuple[str, ...]:
    """The kernel families that a set has parameters for, as people call them."""
    keys = (key.partition("@")[0].partition(":")[0] for key in calibration.families)
    return tuple(dict.fromkeys(map(family_name, keys)))


def origin_of(cost: ComponentCost) -> Origin | None:
    """Where a component's seconds come from, at the last point; None where nobody said."""
    return cost.origins[int(_last(cost.origin_index))] if cost.origins else None


def set_name(origin: Origin) -> str:
    """A calibration's name alone, another provider's as it is; of seconds by component, that they are the user's."""
    return origin.method if origin.match == BY_COMPONENT else origin.provider.removeprefix(_SET)


def family_name(family: str) -> str:
    """`rms_norm` is "norms"."""
    return _WORDS.get(family, family.replace("_", " "))


def _and(names: tuple[str, ...]) -> str:
    if len(names) <= _MOST_NAMED + 1:
        return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return few(names, _MOST_NAMED)


def _last(values: Any) -> float:
    return float(np.ravel(values)[-1])
