"""What of a what-if the mode `calibrated` does not feel: figures of a system that only the analytical modes read."""

from __future__ import annotations

import re
from typing import Final

from ..system import SystemProfile
from ..words import few

_ANALYTICAL: Final = re.compile(
    r"processing_mode|(vector|(matrix|memory)\.efficiency|network\.\d+\.(latency_us|efficiency_fraction|collectives))"
    r"(\..+)?"
)
_PEAK: Final = re.compile(r"matrix\.(.+)_tflop_per_s")
_MOST_NAMED: Final = 3
"""Paths that a sentence names."""


def unfelt_overrides(system: SystemProfile, datatype: str) -> tuple[str, ...]:
    """Overridden paths that change no cost of a calibrated request in `datatype`, by name.

    Fitted forms have floors, latencies, efficiencies and overlaps of their own, and read one matrix peak. A table that
    was replaced as a whole counts as felt where a figure in it may be.
    """
    overridden = sorted(path for path, source in system.sources.items() if source == "what-if")
    return tuple(path for path in overridden if _ANALYTICAL.fullmatch(path) or _is_other_peak(path, datatype))


def unfelt_in_words(system: SystemProfile, datatype: str) -> str:
    """ "it does not feel network.0.latency_us, vector"; empty where there is nothing to say."""
    paths = unfelt_overrides(system, datatype)
    return f"it does not feel {few(paths, _MOST_NAMED)}" if paths else ""


def _is_other_peak(path: str, datatype: str) -> bool:
    """Whether `path` is a matrix peak of another datatype."""
    found = _PEAK.fullmatch(path)
    return found is not None and found[1] != datatype
