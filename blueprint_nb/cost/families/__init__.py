"""Cost forms of kernel families: seconds from a shape, a machine's figures and a few parameters, by named terms."""

from .attention_decode import AttentionDecode
from .attention_prefill import AttentionPrefill
from .collective import Collective
from .embedding import Embedding
from .family import Family, KernelTime, Parameter
from .forms import form_of
from .gemm import Gemm
from .link import HOST_LINK, Link, collective_keys, is_through_host, link_of
from .machine import Machine, machine_of

__all__ = [
    "HOST_LINK",
    "AttentionDecode",
    "AttentionPrefill",
    "Collective",
    "Embedding",
    "Family",
    "Gemm",
    "KernelTime",
    "Link",
    "Machine",
    "Parameter",
    "collective_keys",
    "form_of",
    "is_through_host",
    "link_of",
    "machine_of",
]
