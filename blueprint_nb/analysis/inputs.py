"""Everything an estimate is made from."""

from __future__ import annotations

from .._schema import Count, Record, Text
from ..cost import Mode
from ..mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from ..synthesizer import Attention
from ..system import SystemProfile
from ..workload import TransformerInferenceRequestSpec, TransformerModelSpec
from ..workload.datatype import Datatype


class RequestInputs(Record):
    """A request to a model, spread by a mapping over a system, priced in a mode."""

    model: TransformerModelSpec
    system: SystemProfile
    mapping: TransformerInferenceMappingSpec
    request: TransformerInferenceRequestSpec
    network: NetworkTierBinding
    mode: Mode
    attention: Attention
    calibration: Text = ""
    """Which parameters price the mode `calibrated`; empty in the others."""


class CacheInputs(Record):
    """A KV cache: of which model, spread how, for how many sequences of which length. Raises `InvalidInputError`."""

    model: TransformerModelSpec
    mapping: TransformerInferenceMappingSpec
    batch_size: Count
    """Sequences."""
    context_tokens: Count
    """Tokens held of each sequence."""
    datatype: Datatype
