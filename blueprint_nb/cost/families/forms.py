"""The form that a family's fitted parameters belong to."""

from __future__ import annotations

from typing import Final

from ...errors import unknown_name
from .attention_decode import AttentionDecode
from .attention_prefill import AttentionPrefill
from .collective import COLLECTIVES, Collective
from .embedding import Embedding
from .family import Family
from .gemm import Gemm
from .host import Host
from .link import Link
from .row_wise import ROW_WISE

_PLAIN: Final[dict[str, Family]] = {family.name: family for family in (*ROW_WISE, Embedding(), Host())}

_NAMES: Final = (Gemm.name, *_PLAIN, AttentionDecode.name, AttentionPrefill.name, *COLLECTIVES)


def form_of(name: str, *, kernel: str = "", link: Link | None = None, own_bytes: int = 0) -> Family:
    """The form of a family by its name; `kernel` is for GEMM and attention, `link` and `own_bytes` are for collectives.

    Raises `UnknownNameError`.
    """
    if name == Gemm.name:
        return Gemm(kernel)
    if name in _PLAIN:
        return _PLAIN[name]
    if name == AttentionDecode.name:
        return AttentionDecode(kernel)
    if name == AttentionPrefill.name:
        return AttentionPrefill(kernel)
    if name in COLLECTIVES and link is not None:
        return Collective(name, link, own_bytes=own_bytes)
    raise unknown_name("family", name, _NAMES)
