"""What an oracle says about one component: a reference, or the reason for none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["matched", "flagged", "not-covered"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VidurReference:
    """The measured time of one execution of a component on one device."""

    component: str
    operator: str | None = None
    """Vidur's name of what was timed."""
    state: State
    """`matched`: a reference. `flagged`: a measurement that can't be relied on, kept out of subtotals."""
    seconds: float | None = None
    """The median over the matching rows; None where nothing covers the component."""
    reason: str = ""
    """In words, why it is not covered or flagged; empty where it is matched."""
    note: str = ""
    """What a reader should know about a matched reference."""
    samples: int = 0
    """Rows that the median was taken over."""
    spread_seconds: float | None = None
    """Largest less smallest of these rows."""

    @property
    def covered(self) -> bool:
        """Whether it counts in subtotals."""
        return self.state == "matched"


def not_covered(component: str, reason: str, operator: str | None = None) -> VidurReference:
    """No reference, and why."""
    return VidurReference(component=component, operator=operator, state="not-covered", reason=reason)
