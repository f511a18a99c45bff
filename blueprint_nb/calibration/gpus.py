"""Which GPU a measured system is of, and of which generation: what is left out together to ask about an unseen one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU, whatever its board and its links."""

    name: str
    generation: str
    year: int
    """When its generation was announced."""


_A100: Final = Gpu("A100", "Ampere", 2020)

GPUS: Final = {
    "a100_80g_pcie": _A100,
    "a100_80g_sxm": _A100,
    "a40_48g": Gpu("A40", "Ampere", 2020),
    "l40s_48g": Gpu("L40S", "Ada", 2022),
    "h100_80g_sxm": Gpu("H100", "Hopper", 2022),
    "h200_141g_sxm": Gpu("H200", "Hopper", 2022),
    "b200": Gpu("B200", "Blackwell", 2024),
}
"""System to its GPU."""


def names_by_year() -> tuple[tuple[str, ...], ...]:
    """Names of GPUs, the earliest first, those of one year together."""
    years = sorted({gpu.year for gpu in GPUS.values()})
    return tuple(tuple(dict.fromkeys(gpu.name for gpu in GPUS.values() if gpu.year == year)) for year in years)
