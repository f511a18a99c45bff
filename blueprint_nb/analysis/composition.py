"""How a component's terms make up its seconds: it depends on who prices it.

The analytical modes add compute and memory time on a system of `no_overlap`, and take the larger of the two on one of
`roofline`. Fitted forms have a floor, then all else, overlapped as the kernel has it (see `cost.families`).
"""

from __future__ import annotations

from .inputs import RequestInputs


def is_fitted(inputs: RequestInputs) -> bool:
    """Whether forms with a floor price it."""
    return inputs.mode == "calibrated"


def adds_terms(inputs: RequestInputs) -> bool:
    """Whether compute and memory time follow each other."""
    return not is_fitted(inputs) and inputs.system.processing_mode == "no_overlap"
