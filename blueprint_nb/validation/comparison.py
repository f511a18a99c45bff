"""A finished estimate beside its references: the error of each component, where it can't cancel.

    error = (estimate − reference) / reference,  signed, in percent
    component MAPE = mean of |error| over the matched components of a block

Subtotals and means are of one decoder block and of matched components alone; what is outside the block (embedding,
hops, head) has its row and its error, and counts in neither. A calibrated estimate comes with the band that nine of ten
such times lie in, and a measurement lies in it or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import fsum
from operator import itemgetter

import numpy as np

from ..analysis import PhaseEstimate
from ..analysis.vidur import VidurProfileBaseline, VidurReference
from ..cost import Band, ComponentActivity, ComponentCost, Deviation, Origin, band_of_sum
from ..cost.block import BLOCK_LAYERS
from .freeze import FrozenCase


@dataclass(frozen=True, slots=True)
class ComponentComparison:
    """One component of a case in one mode."""

    primitive: str
    source_layer: str
    seconds: float
    """Estimated, of one execution."""
    reference: VidurReference
    band: Band | None = None
    """Where nine of ten such times lie, as the estimate has it; None in modes without one."""
    deviation: Deviation | None = None
    """The band about the estimate, with the family whose errors go together."""
    origin: Origin | None = None
    """Which parameters it was priced with; None in modes without any."""

    @property
    def in_block(self) -> bool:
        """Whether it is part of a decoder block."""
        return self.source_layer in BLOCK_LAYERS

    @property
    def error_seconds(self) -> float | None:
        """Estimate less reference; None where there is none."""
        return None if self.reference.seconds is None else self.seconds - self.reference.seconds

    @property
    def error_percent(self) -> float | None:
        """Signed, of the reference; None where there is none."""
        return None if self.reference.seconds is None else percent(self.seconds, self.reference.seconds)

    @property
    def in_band(self) -> bool | None:
        """Whether what was measured lies in the band; None where either is missing."""
        return holds(self.band, self.reference.seconds)


@dataclass(frozen=True, eq=False)
class CaseComparison:
    """One case in one mode. Figures that nothing covers are None."""

    frozen: FrozenCase
    mode: str
    components: tuple[ComponentComparison, ...]
    """In plan order."""
    topology_equivalence: str
    """What may be said of the block that was measured."""

    @property
    def estimate(self) -> PhaseEstimate:
        """The frozen estimate."""
        return self.frozen.estimates[self.mode]

    @cached_property
    def in_block(self) -> tuple[ComponentComparison, ...]:
        """Components of a decoder block."""
        return tuple(one for one in self.components if one.in_block)

    @cached_property
    def matched(self) -> tuple[ComponentComparison, ...]:
        """Components of a decoder block that have a reference to rely on."""
        return tuple(one for one in self.in_block if one.reference.is_matched)

    @property
    def flagged_count(self) -> int:
        """Components of a decoder block whose measurement is not relied on."""
        return sum(one.reference.state == "flagged" for one in self.in_block)

    @property
    def coverage(self) -> float:
        """Matched components of a block over all of them, a fraction."""
        return len(self.matched) / len(self.in_block)

    @property
    def comparable_seconds(self) -> float:
        """Estimated, of the matched components of one block."""
        return fsum(one.seconds for one in self.matched)

    @property
    def reference_seconds(self) -> float:
        """Measured, of the matched components of one block."""
        return fsum(one.reference.seconds for one in self.matched if one.reference.seconds is not None)

    @property
    def excluded_seconds(self) -> float:
        """Estimated, of the components of one block that are not compared."""
        return fsum(one.seconds for one in self.in_block if not one.reference.is_matched)

    @property
    def subtotal_error_seconds(self) -> float | None:
        """Comparable estimate less reference."""
        return self.comparable_seconds - self.reference_seconds if self.matched else None

    @property
    def subtotal_error_percent(self) -> float | None:
        """Signed, of the reference."""
        return percent(self.comparable_seconds, self.reference_seconds) if self.matched else None

    @cached_property
    def subtotal_band(self) -> Band | None:
        """Of the comparable estimate, by the errors that go together within a family; None where a part has none."""
        deviations = [one.deviation for one in self.matched if one.deviation is not None]
        if not deviations or len(deviations) < len(self.matched):
            return None
        band = band_of_sum(self.comparable_seconds, deviations)
        return Band(float(band.low_seconds), float(band.high_seconds))

    @property
    def subtotal_in_band(self) -> bool | None:
        """Whether the measured subtotal lies in the band of the estimated one."""
        return holds(self.subtotal_band, self.reference_seconds)

    @property
    def in_bands(self) -> list[bool]:
        """Of each matched component of the block with a band: whether what was measured lies in it."""
        return [one.in_band for one in self.matched if one.in_band is not None]

    @property
    def errors_percent(self) -> list[float]:
        """Signed error of each matched component of the block."""
        return [one.error_percent for one in self.matched if one.error_percent is not None]

    @property
    def component_mape_percent(self) -> float | None:
        """Mean of the matched components' absolute errors."""
        errors = self.errors_percent
        return fsum(abs(error) for error in errors) / len(errors) if errors else None

    @cached_property
    def worst(self) -> ComponentComparison | None:
        """The matched component of the block with the largest absolute error; of equals, the last."""
        compared = [(abs(one.error_percent), one) for one in self.matched if one.error_percent is not None]
        return max(reversed(compared), key=itemgetter(0))[1] if compared else None

    @property
    def component_max_percent(self) -> float | None:
        """Largest of the matched components' absolute errors."""
        error = None if self.worst is None else self.worst.error_percent
        return None if error is None else abs(error)


def compare(frozen: FrozenCase, oracle: VidurProfileBaseline) -> list[CaseComparison]:
    """Every mode of a case beside its references. Raises TypeError unless it is frozen."""
    if not isinstance(frozen, FrozenCase):
        raise TypeError(f"a comparison takes a FrozenCase, got {type(frozen).__name__}: finish the estimate first")
    references, topology = oracle.references(frozen.subject), oracle.topology_equivalence(frozen.subject)
    comparisons = []
    for mode, estimate in frozen.estimates.items():
        rows = zip(estimate.costs.priced, references, strict=True)
        components = tuple(_compared(activity, cost, reference) for (activity, cost), reference in rows)
        comparisons.append(CaseComparison(frozen, mode, components, topology))
    return comparisons


def _compared(activity: ComponentActivity, cost: ComponentCost, reference: VidurReference) -> ComponentComparison:
    seconds = float(cost.seconds)
    band = deviation = None
    if cost.band is not None:
        band = Band(float(cost.band.low_seconds), float(cost.band.high_seconds))
        sides = (seconds - band.low_seconds, band.high_seconds - seconds)
        deviation = Deviation(cost.family, cost.correlation, *sides)
    origin = None
    if cost.origins:
        origin = cost.origins[0 if len(cost.origins) == 1 else int(np.max(cost.origin_index))]
    return ComponentComparison(activity.primitive, activity.source_layer, seconds, reference, band, deviation, origin)


def holds(band: Band | None, seconds: float | None) -> bool | None:
    """Whether `seconds` lie in `band`; None where either is missing."""
    return None if band is None or seconds is None else bool(band.low_seconds <= seconds <= band.high_seconds)


def percent(estimate_seconds: float, reference_seconds: float) -> float:
    """Signed relative error, in percent of the reference."""
    return 100.0 * (estimate_seconds - reference_seconds) / reference_seconds
