"""What a rank holds: the one place where the size of KV cache, workspace and boundary buffers stands.

Elements on one rank of a stage. The workspace bound is the residual stream and the largest intermediate beside it.
Weights are not here: they are the sum of what the stage's components hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..ir.distributed import BufferKind


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferRule:
    """One buffer. Names as in `components`, and `blocks` of the stage, `boundaries` it has."""

    name: str
    kind: BufferKind
    elements: str
    transient: bool = False
    unfused_only: bool = False
    at_head: bool = False
    """Only on the stage with the LM head."""


BUFFERS: Final = (
    BufferRule(name="kv_cache", kind="kv_cache", elements="2*blocks*allocated_context*kv_width"),
    BufferRule(name="workspace.residual", kind="workspace", elements="tokens*hidden"),
    BufferRule(name="workspace.qkv", kind="workspace", elements="tokens*qkv_width", transient=True),
    BufferRule(
        name="workspace.scores",
        kind="workspace",
        elements="heads*query_context",
        transient=True,
        unfused_only=True,
    ),
    BufferRule(name="workspace.mlp", kind="workspace", elements="tokens*up_width", transient=True),
    BufferRule(
        name="workspace.logits",
        kind="workspace",
        elements="sequences*vocab_rows",
        transient=True,
        at_head=True,
    ),
    BufferRule(name="boundary", kind="boundary", elements="boundaries*tokens*hidden"),
)
