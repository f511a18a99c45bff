"""Composition of a request: one prefill and O − 1 decode steps, each derived and costed by itself.

The prefill (q = c = S) gives the first token; decode steps run at the visible contexts S + 1 … S + O − 1. All decode
steps share a template, so they are priced as one array.
"""

from __future__ import annotations

import numpy as np

from ..cost import CostProvider, template_activity
from ..ir import PortablePlanIR
from ..workload import InferencePhase, WorkloadBinding
from .checks import check_context, check_network
from .estimate import Estimate
from .inputs import RequestInputs
from .lowering import lower
from .memory import peak_memory
from .phase import estimate_inference_phase, price
from .points import phase_statistics
from .providers import provider_for


def estimate_request(inputs: RequestInputs, provider: CostProvider | None = None) -> Estimate:
    """Prices a whole request, by `provider` or the mode of `inputs` and what is stacked before it.

    Raises `InvalidInputError` where the mapping can't divide the model, the context passes the model's sequence
    length or a group exceeds its tier; `UnsupportedError` where the system lacks a figure.
    """
    request, system, network = inputs.request, inputs.system, inputs.network
    provider = provider or provider_for(inputs)
    check_context(inputs.model, request)
    check_network(system, inputs.mapping, network)
    lowered = lower(inputs.model, inputs.mapping, request.datatype, inputs.attention)
    workload = WorkloadBinding.prefill(
        batch_size=request.batch_size, prompt_tokens=request.prompt_tokens, datatype=request.datatype
    )
    prefill_plan = PortablePlanIR(template=lowered.plan, workload=workload)
    prefill = estimate_inference_phase(lowered.implementation.bind(prefill_plan), system, network, provider)
    contexts = np.arange(request.prompt_tokens + 1, request.last_context_tokens + 1, dtype=np.int64)
    contexts.setflags(write=False)
    decode = None
    if len(contexts):
        batch = np.int64(request.batch_size)
        statistics = phase_statistics(lowered.bound, InferencePhase.DECODE, batch, contexts)
        decode = price(provider, template_activity(lowered.bound, statistics), system, network)
    return Estimate(
        inputs=inputs,
        lowered=lowered,
        prefill_plan=prefill_plan,
        prefill=prefill,
        decode_contexts=contexts,
        decode_costs=decode,
        memory=peak_memory(lowered.bound, system.memory, request),
    )
