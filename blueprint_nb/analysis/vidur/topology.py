"""Which comparisons a profile can't bear, whatever rows it has: another model, machine, datatype or block."""

from __future__ import annotations

from typing import Final

from ...evidence.vidur import DATATYPE
from .names import MODELS, NETWORKS, SYSTEMS, stands_for
from .reference import Reason
from .rows import ProfileRows
from .subject import Subject

_WITH_KV_HEADS: Final = ("qkv_projection", "rope", "kv_save", "attention_core")

NOT_CLAIMED: Final = "not-claimed-by-raw-component-profile-alignment"
CONSISTENT: Final = "consistent-with-the-columns-of-the-compute-profile"
REFUSED: Final = "refused-other-residual-topology"


def identity_fault(subject: Subject, model_name: str) -> Reason | None:
    """Why nothing of a profile of `model_name` can be compared; None where it can."""
    model, plan = subject.model, subject.plan
    if model.name not in stands_for(model_name, MODELS):
        return Reason("other model", f"the profile is of {model_name}, not of {model.name}")
    if plan.template.datatype != DATATYPE:
        return Reason("other datatype", f"the profile is in {DATATYPE}, not in {plan.template.datatype}")
    if model.attention_head_size * model.attention_heads != model.hidden_size:
        heads = f"{model.attention_heads} heads of {model.attention_head_size}"
        return Reason("other dimensions", f"a profile's heads make up n_embd, and {model.name} has {heads}")
    return None


def hardware_fault(subject: Subject, hardware_name: str) -> Reason | None:
    """Why nothing measured on `hardware_name` can be compared; None where it can."""
    if subject.system.name in stands_for(hardware_name, SYSTEMS):
        return None
    return Reason("other hardware", f"measured on {hardware_name}, which does not stand for {subject.system.name}")


def block_fault(subject: Subject, compute: ProfileRows) -> Reason | None:
    """Why a compute file of another residual topology can't be compared; None where it can.

    A file does not declare its topology: only that the model's rows have no `post_attention_layernorm` hints at
    parallel residuals.
    """
    if subject.model.is_reference or not compute.table.milliseconds:
        return None
    timed = compute.is_timed("post_attention_layernorm", subject.block_key())
    if timed is None:
        return None
    parallel_file = not timed
    if parallel_file and subject.model.residual == "serial":
        seen = f"{compute.name} has no post_attention_layernorm, as of parallel residuals"
        return Reason("other topology", f"{seen}, and {subject.model.name} is serial")
    if not parallel_file and subject.model.residual == "parallel":
        seen = f"{compute.name} has a post_attention_layernorm, as of serial residuals"
        return Reason("other topology", f"{seen}, and those of {subject.model.name} are parallel")
    return None


def component_fault(subject: Subject, component: str) -> Reason | None:
    """Why one component can't be compared though its file can; None where it can."""
    model, ranks = subject.model, subject.mapping.tensor_parallel
    if component in _WITH_KV_HEADS and ranks > model.key_value_heads:
        repeated = f"TP {ranks} repeats the {model.key_value_heads} KV heads of {model.name}"
        return Reason("refused by policy", f"{repeated}, and a profile does not say how its kernels did")
    if component == "rope" and model.rotary_size not in (None, model.attention_head_size):
        rotated = f"{model.name} rotates {model.rotary_size} of {model.attention_head_size} elements"
        return Reason("refused by policy", f"Vidur's RoPE rotates whole heads, and {rotated}")
    if component == "embedding" and model.position == "learned":
        return Reason("refused by policy", f"Vidur's `emb` gathers one table, and {model.name} adds learned positions")
    return None


def network_fault(subject: Subject, network_name: str) -> Reason | None:
    """Why no collective timed on `network_name` can be compared; None where it can."""
    if subject.system.name in stands_for(network_name, NETWORKS):
        return None
    return Reason(
        "other hardware", f"timed on {network_name}, whose network does not stand for that of {subject.system.name}"
    )


def topology_equivalence(subject: Subject, model_name: str, compute: ProfileRows | None) -> str:
    """What may be said of the block that a profile was measured on: at most that its columns don't contradict it."""
    if subject.model.is_reference or compute is None or identity_fault(subject, model_name):
        return NOT_CLAIMED
    return REFUSED if block_fault(subject, compute) else CONSISTENT
