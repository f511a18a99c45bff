"""A set of fitted parameters: of one device, one source and software stack; and what the fit was worth.

A set is data: no fitted figure stands in code. It says which observations it was fitted to, how, on which shapes, and
how far off it was on those and on kernels it never saw, so that an estimate can say so too.
"""

from __future__ import annotations

from functools import cached_property
from itertools import zip_longest
from typing import Annotated, Final

from pydantic import Field

from .._canonical import Digested, digest
from .._schema import Count, Index, Number, Record, Text
from ..workload.datatype import Datatype
from .families.link import Link
from .families.machine import Machine


class ErrorFigures(Record):
    """Errors of |estimate / measured − 1| over some rows, each counted alone; in percent."""

    rows: Count
    mape_percent: Annotated[Number, Field(ge=0)]
    """Mean over rows."""
    balanced_mape_percent: Annotated[Number, Field(ge=0)]
    """Mean over octaves of size and components, each counting alike; for attention over octaves of batch and sizes of
    heads, for collectives over numbers of ranks in the place of components."""
    p90_percent: Annotated[Number, Field(ge=0)]
    max_percent: Annotated[Number, Field(ge=0)]
    """Of the rows that are more than 1 µs off."""


class OctaveResiduals(Record):
    """ln(measured / estimate) of held-out rows whose size is of one octave."""

    octave: Index
    """⌊log₂⌋ of the size."""
    rows: Count
    size: Annotated[Number, Field(ge=1)]
    """Geometric mean of the octave's sizes, those of other devices that were heard too."""
    middle: Number
    """The median, with weights by part, as it would be within the range that was observed: where it leans to."""
    reach: Annotated[Number, Field(ge=0)]
    """What nine of ten lie within, to either side, as they would be within that range, plus `widened`; no less than of
    rows that were fitted to (see `calibration.residuals`)."""
    widened: Annotated[Number, Field(ge=0)] = 0.0
    """By how much further the reach goes so that bands of some models or folds hold 90 % of another."""
    mape_percent: Number | None = None
    """Mean of |estimate / measured − 1| over these rows."""
    in_sample_mape_percent: Number | None = None
    """The same over rows of the octave that were fitted to."""


class FamilyFit(Record):
    """A family's parameters, and what they are worth."""

    values: dict[Text, Number]
    kernel: Text = ""
    """Which of a family's kernels, for GEMM and attention (see `gemm_kernels`, `split_rule`, `tiling`)."""
    link: Link | None = None
    """The figures of the link, for collectives; None where they are those of the tier that is priced."""
    own_bytes: Index = 0
    """Below so many bytes the engine reduces itself, for collectives."""
    ranges: dict[Text, tuple[Count, Count]]
    """Dimension to the smallest and largest that was observed."""
    datatypes: tuple[Datatype, ...]
    observations_digest: Text
    """SHA-256 of the rows that were fitted to."""
    in_sample: ErrorFigures
    held_out: dict[Text, ErrorFigures] = Field(default_factory=dict)
    """Split to the errors on what it kept out of the fit."""
    residuals: tuple[OctaveResiduals, ...] = ()
    """Of held-out rows."""
    correlation: Annotated[Number, Field(ge=0, le=1)] = 1.0
    """Of the errors of different components of this family in one step, held out; 1 where nobody fitted it."""
    coverage_percent: Annotated[Number, Field(ge=0, le=100)] | None = None
    """Of rows held out with one part of the first split, by the 90 % band that the other parts would have made."""
    software: Text = ""
    """What ran, with its version, where that is not the set's: nccl 2.29.2."""
    machine: Machine | None = None
    """The figures it was fitted with, where they are not the set's: those of another datatype."""


class CalibrationSet(Digested):
    """Parameters by family. Raises `InvalidInputError`."""

    name: Text
    """`vidur`, `vllm-0.24`, `pooled`."""
    target: Text
    """The device as its source names it; empty for a set that is of none."""
    systems: tuple[Text, ...]
    """Names of the systems it may price; empty for a set that prices any."""
    source: Text
    """Of several with a comma between them."""
    source_revision: Text
    """In the order of the sources."""
    software: Text
    software_version: Text
    models: tuple[Text, ...] = ()
    """Models whose kernels were fitted to, as their source names them; empty where it names none."""
    machine: Machine | None = None
    """The figures it was fitted with, which it prices with; None where it takes those of the system."""
    seed: Index
    optimiser: Text
    families: dict[Text, FamilyFit]
    """By the family's name; a collective's with `@` and the name of the tier, such as `all_reduce@NVLink 4`, where it
    is of one kind of link."""

    @property
    def sources(self) -> str:
        """ "aiconfigurator-core 0.12.0, vidur 7d475133"."""
        revisions = self.source_revision.split(", ")
        return ", ".join(" ".join(filter(None, pair)) for pair in zip_longest(self.source.split(", "), revisions))

    @cached_property
    def revision(self) -> str:
        """Digest of everything that decides a cost."""
        decides = {name: {field: getattr(fit, field) for field in _DECIDE} for name, fit in self.families.items()}
        return digest({"machine": self.machine, "families": decides})


_DECIDE: Final = (
    "values",
    "kernel",
    "link",
    "own_bytes",
    "ranges",
    "datatypes",
    "residuals",
    "correlation",
    "machine",
)
"""Fields of a family's fit that its seconds or their band depend on."""
