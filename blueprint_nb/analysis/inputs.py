"""Everything an estimate is made from."""

from __future__ import annotations

from .._schema import Record
from ..mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from ..system import SystemProfile
from ..workload import TransformerInferenceRequestSpec, TransformerModelSpec


class RequestInputs(Record):
    """A request to a model, spread by a mapping over a system, priced in a mode."""

    model: TransformerModelSpec
    system: SystemProfile
    mapping: TransformerInferenceMappingSpec
    request: TransformerInferenceRequestSpec
    network: NetworkTierBinding
    mode: str
    attention: str
    """Kernels of attention: unfused, flash or paged."""
