"""Which mappings can divide a model, and why the others can't."""

from __future__ import annotations

from functools import lru_cache

from ..errors import InvalidInputError
from ..ir.model_ir import BlockAttributes
from ..mapping import TransformerInferenceMappingSpec

_LISTED_UP_TO = 64


def tensor_parallel_fault(block: BlockAttributes, ranks: int) -> str | None:
    """The rule that TP = `ranks` breaks, in words; None when legal."""
    if block.attention_heads % ranks:
        return f"must divide the {block.attention_heads:,} attention heads"
    if block.feedforward_size % ranks:
        return f"must divide the feed-forward size, {block.feedforward_size:,}"
    heads = block.key_value_heads
    if heads % ranks and ranks % heads:
        return f"must divide the {heads:,} KV heads or be a multiple of them, so that each rank holds whole heads"
    return None


def pipeline_parallel_fault(blocks: int, stages: int) -> str | None:
    """The rule that PP = `stages` breaks, in words; None when legal."""
    return f"must divide the {blocks:,} blocks" if blocks % stages else None


def require_legal(block: BlockAttributes, blocks: int, mapping: TransformerInferenceMappingSpec) -> None:
    """Raises `InvalidInputError` where the mapping can't divide the model."""
    ranks, stages = mapping.tensor_parallel, mapping.pipeline_parallel
    if fault := tensor_parallel_fault(block, ranks):
        raise _illegal("tensor_parallel", ranks, fault, legal_tensor_parallel(block, _LISTED_UP_TO))
    if fault := pipeline_parallel_fault(blocks, stages):
        raise _illegal("pipeline_parallel", stages, fault, legal_pipeline_parallel(blocks, _LISTED_UP_TO))


@lru_cache(maxsize=256)
def legal_tensor_parallel(block: BlockAttributes, most: int) -> tuple[int, ...]:
    """Every legal TP up to `most`."""
    return tuple(ranks for ranks in range(1, most + 1) if tensor_parallel_fault(block, ranks) is None)


@lru_cache(maxsize=256)
def legal_pipeline_parallel(blocks: int, most: int) -> tuple[int, ...]:
    """Every legal PP up to `most`."""
    return tuple(stages for stages in range(1, most + 1) if pipeline_parallel_fault(blocks, stages) is None)


def _illegal(field: str, got: int, fault: str, legal: tuple[int, ...]) -> InvalidInputError:
    listed = ", ".join(str(size) for size in legal)
    return InvalidInputError(field, got=str(got), rule=fault, next_step=f"Legal up to {_LISTED_UP_TO}: {listed}.")
