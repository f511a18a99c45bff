"""What a rank holds: the one place where the size of KV cache, workspace and boundary buffers stands.

Elements on one rank of a stage. The workspace bound is the residual stream and the largest intermediate beside it;
a gated activation holds its two inputs and its output at once, and logits are held as gathered over all ranks.
Weights are not here: they are the sum of what the stage's components hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..ir.distributed import DistributedBuffer, DistributedTask
from ..ir.form import LinearForm
from ..ir.task import BufferKind, StageKind
from .formula import evaluate
from .parts import ModelParts


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
    BufferRule(name="workspace.mlp", kind="workspace", elements="tokens*(up_width + gate*inner)", transient=True),
    BufferRule(
        name="workspace.logits",
        kind="workspace",
        elements="sequences*vocab_rows*ranks",
        transient=True,
        at_head=True,
    ),
    BufferRule(name="boundary", kind="boundary", elements="boundaries*tokens*hidden"),
)


def stage_buffers(
    parts: ModelParts, symbols: dict[str, int], tasks: tuple[DistributedTask, ...], stages: int
) -> Iterator[DistributedBuffer]:
    """The buffers of each kind of stage: the first and last of several, those between them, or the only one."""
    blocks = parts.stack.repeat // stages
    sizes = {**symbols, "blocks": blocks, "boundaries": 2 if stages > 1 else 1}
    for stage in _stage_kinds(stages):
        yield _weights(parts, symbols, tasks, stage, blocks)
        for rule in BUFFERS:
            if rule.at_head and (parts.head is None or stage not in ("last", "only")):
                continue
            yield DistributedBuffer(
                id=f"{stage}.{rule.name}",
                kind=rule.kind,
                stage=stage,
                elements=evaluate(rule.elements, sizes),
                transient=rule.transient,
                unfused_only=rule.unfused_only,
            )


def _stage_kinds(stages: int) -> tuple[StageKind, ...]:
    if stages <= 2:
        return ("only",) if stages == 1 else ("first", "last")
    return ("first", "inner", "last")


def _weights(
    parts: ModelParts, symbols: dict[str, int], tasks: tuple[DistributedTask, ...], stage: StageKind, blocks: int
) -> DistributedBuffer:
    """Weights of a stage; a table that is both embedding and LM head is held once where both are on it."""
    total = LinearForm()
    for task in tasks:
        if task.scope == "every":
            total += task.weights * blocks
        elif stage in (task.scope, "only"):
            total += task.weights
    if stage == "only" and parts.head is not None and parts.head.tied_to is not None:
        total -= symbols["vocab_rows"] * symbols["hidden"]
    return DistributedBuffer(id=f"{stage}.weights", kind="weights", stage=stage, elements=total)
