"""What an oracle says about one component: a reference, or the reason for none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

State = Literal["matched", "flagged", "not-covered"]

Kind = Literal[
    "",
    "other model",
    "other datatype",
    "other dimensions",
    "other hardware",
    "other topology",
    "refused by policy",
    "no file",
    "no column",
    "no row",
    "faulty cell",
    "ruled out by physics",
    "unreliable",
]
"""Of the reason why a component is not covered, or its measurement is flagged; empty where it is matched."""


class Reason(NamedTuple):
    """Why nothing is compared."""

    kind: Kind
    detail: str


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
    kind: Kind = ""
    """Of the reason why it is not covered or flagged; empty where it is matched."""
    detail: str = ""
    """The reason itself, in words."""
    note: str = ""
    """What a reader should know about a reference; several notes are parted by semicolons."""
    samples: int = 0
    """Rows that the median was taken over."""
    spread_seconds: float | None = None
    """Largest less smallest of these rows."""

    @property
    def reason(self) -> str:
        """Kind and detail: "no row: mlp.csv has none with num_tokens 127"; empty where it is matched."""
        return f"{self.kind}: {self.detail}" if self.kind else ""

    @property
    def is_matched(self) -> bool:
        """Whether it counts in subtotals."""
        return self.state == "matched"


def noted(reference: VidurReference, note: str) -> VidurReference:
    """`reference` with one more note."""
    return replace(reference, note=f"{reference.note}; {note}" if reference.note else note)


def not_covered(component: str, reason: Reason, operator: str | None = None) -> VidurReference:
    """No reference, and why."""
    return VidurReference(
        component=component, operator=operator, state="not-covered", kind=reason.kind, detail=reason.detail
    )
