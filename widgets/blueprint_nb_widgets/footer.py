"""Where the figures come from, and what they leave out."""

from __future__ import annotations

from blueprint_nb import Estimate

from .markup import span

_SHORT_DIGEST = 12

_SCOPES = {
    True: "decoder stack only: no embedding, LM head, sampling, host or queueing",
    False: "whole model, embedding to LM head: no sampling, host or queueing",
}

_MODES = {
    "peak-only": "everything at the peaks of the profile",
    "calibrated": "bands by the errors on kernels kept out of the fit",
}


def footer_html(estimate: Estimate) -> str:
    """Digests of plan and system, kernels, scope."""
    inputs = estimate.inputs
    facts = [
        f"plan {estimate.prefill_plan.digest[:_SHORT_DIGEST]}…",
        f"system revision {inputs.system.revision[:_SHORT_DIGEST]}…",
        f"{inputs.attention} attention",
        _SCOPES[inputs.model.is_reference],
    ]
    if inputs.mode in _MODES:
        facts.append(f"{inputs.mode}: {_MODES[inputs.mode]}")
    return '<div class="bp-footer">' + "".join(span("fact", fact) for fact in facts) + "</div>"
