"""One case of an experiment: a phase of a model on a mapping and a machine."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, model_validator

from .._schema import Count, Record, Text
from ..analysis.checks import check_network, context_rule
from ..errors import InvalidInputError, one_of
from ..mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from ..synthesizer import Attention
from ..system import SystemProfile
from ..workload import InferencePhase, TransformerModelSpec
from ..workload.datatype import Datatype


def _phase(value: object) -> InferencePhase:
    return InferencePhase(one_of("phase", value, [str(phase) for phase in InferencePhase]))


Phase = Annotated[InferencePhase, BeforeValidator(_phase)]
"""A phase, or its name."""


class VidurExperimentCase(Record):
    """What is estimated, and then looked up. Raises `InvalidInputError`."""

    name: Text
    """Tells the case from the others of its experiment."""
    model: TransformerModelSpec
    mapping: TransformerInferenceMappingSpec
    network_binding: NetworkTierBinding
    datatype: Datatype
    hardware: SystemProfile
    phase: Phase
    batch_size: Count
    """Sequences."""
    context_tokens: Count
    """Visible context of each; in a prefill, also its query tokens."""
    attention: Attention | None = None
    """The kernel: None means `unfused` for the template `dense-mha`, `flash` for a real model."""

    @model_validator(mode="after")
    def _can_be_estimated(self) -> Self:
        if self.context_tokens > self.model.sequence_length:
            raise InvalidInputError(
                "context_tokens",
                got=f"{self.context_tokens:,}",
                rule=context_rule(self.model),
                next_step="Shorten the context.",
            )
        check_network(self.hardware, self.mapping, self.network_binding)
        return self
