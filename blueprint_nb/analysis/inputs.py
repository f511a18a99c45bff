"""Everything an estimate is made from."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from .._schema import Count, Flag, Record, Text
from ..cost import CostProvider, Mode
from ..errors import InvalidInputError
from ..mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from ..synthesizer import Attention
from ..system import SystemProfile
from ..workload import TransformerInferenceRequestSpec, TransformerModelSpec
from ..workload.datatype import Datatype


class Stacked(Record):
    """A provider that is asked before the mode. Data holds who it was, not its figures."""

    not_content: ClassVar[frozenset[str]] = frozenset({"provider"})

    name: Text
    """`user-asserted:timings.csv`, `exact-evidence:vllm 0.24.0 from aiconfigurator-core 0.12.0`."""
    method: Text
    """user-asserted, exact-evidence or learned-residual."""
    revision: Text
    """Digest of its figures."""
    provider: Any = Field(default=None, exclude=True, repr=False)
    """The provider itself; None where the inputs were read from a file."""

    def at_hand(self) -> CostProvider:
        """The provider. Raises `InvalidInputError` where it is not at hand."""
        if not isinstance(self.provider, CostProvider):
            raise InvalidInputError(
                "stacked",
                got=self.name,
                rule="can't be priced with: its figures are not in what was saved",
                next_step="Give evidence=, asserted= or learned_from= again.",
            )
        return self.provider


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
    stacked: tuple[Stacked, ...] = ()
    """Who is asked before the mode, in order; those of one method are equals."""
    host_overhead: Flag = False
    """Whether each step has the host's time too."""


class CacheInputs(Record):
    """A KV cache: of which model, spread how, for how many sequences of which length. Raises `InvalidInputError`."""

    model: TransformerModelSpec
    mapping: TransformerInferenceMappingSpec
    batch_size: Count
    """Sequences."""
    context_tokens: Count
    """Tokens held of each sequence."""
    datatype: Datatype
