"""What is pinned, and what of it may stand beside another result.

A difference between two systems must not be one between two sets of parameters. A what-if that kernels feel is a device
that nobody measured, so the pooled calibration alone prices it: what is pinned of another system is then priced by the
pooled one too, or moving a figure by 1 % would show the step from one set to the other. What differs on one and the
same system, or between measured ones, was chosen by the user and stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from blueprint_nb import Estimate, SystemProfile
from blueprint_nb.analysis import RequestInputs, estimate_request
from blueprint_nb.catalog import POOLED
from blueprint_nb.cost import has_calibration

from .options import is_what_if


@dataclass(frozen=True)
class Pinned:
    """An estimate that was kept to compare others with."""

    estimate: Estimate

    def beside(self, now: Estimate) -> Estimate | None:
        """The pinned request, priced so that it may be compared with `now`; None where nothing can price both."""
        kept, shown = self.estimate.inputs, now.inputs
        if kept.system == shown.system or _pricing(kept) == _pricing(shown):
            return self.estimate
        if shown.calibration == POOLED and not shown.system.calibrations and has_calibration(kept.system):
            return self._by_pooled
        return None if _is_unmeasured(kept.system) or _is_unmeasured(shown.system) else self.estimate

    @cached_property
    def _by_pooled(self) -> Estimate:
        inputs = self.estimate.inputs
        return estimate_request(inputs.model_copy(update={"mode": "calibrated", "calibration": POOLED}))


def _is_unmeasured(system: SystemProfile) -> bool:
    """Whether it is a what-if that its base's own parameters don't price."""
    return is_what_if(system) and not system.calibrations


def _pricing(inputs: RequestInputs) -> tuple[str, str]:
    return inputs.mode, inputs.calibration
