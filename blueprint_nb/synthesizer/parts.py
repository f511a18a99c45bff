"""The operations of a ModelIR by role, and the rules they stand for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ..ir.model_ir import BlockAttributes, ModelIR, ModelOperation
from .components import BLOCK, EMBEDDING, HEAD, HOP, ComponentRule


class ModelParts:
    """The operations of a ModelIR, by role."""

    def __init__(self, model: ModelIR) -> None:
        by_kind = {operation.kind: operation for operation in model.operations}
        self.stack = by_kind["transformer.decoder_inference"]
        self.block = cast(BlockAttributes, self.stack.block)
        self.embedding_operation = by_kind.get("transformer.embedding")
        self.embedding = self.embedding_operation.embedding if self.embedding_operation else None
        self.head_operation = by_kind.get("transformer.lm_head")
        self.head = self.head_operation.head if self.head_operation else None

    def rules(self) -> Iterator[tuple[ComponentRule, ModelOperation]]:
        """Every rule the model's operations stand for, in plan order."""
        if self.embedding_operation:
            yield from ((rule, self.embedding_operation) for rule in EMBEDDING)
        yield from ((rule, self.stack) for rule in (*BLOCK, HOP))
        if self.head_operation:
            yield from ((rule, self.head_operation) for rule in HEAD)
