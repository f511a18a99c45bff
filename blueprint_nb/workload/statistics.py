"""What a step's work depends on: six sums over its sequences.

Work is linear in them, so a plan, a sweep and later a scheduler need nothing else about a step. A group is
`count` sequences that each bring `query_tokens` new tokens (q) and see `context_tokens` of context (c), these
included:

    tokens                Σ count·q                          what every projection sees
    sequences             Σ count                            positions the LM head looks at
    query_context         Σ count·q·c                        scores, when the whole square is computed
    causal_query_context  Σ count·(q·(c − q) + q·(q + 1)/2)  scores, when the masked half is skipped
    context               Σ count·c                          keys and values read
    allocated_context     Σ count·⌈c / block⌉·block          keys and values held in blocks of a paged cache
"""

from __future__ import annotations

from typing import Final, TypeVar

STATISTICS: Final = (
    "tokens",
    "sequences",
    "query_context",
    "causal_query_context",
    "context",
    "allocated_context",
)

Quantity = TypeVar("Quantity")
"""A Python int, or a NumPy int64 array of any shape."""


def step_statistics(
    query_tokens: Quantity, context_tokens: Quantity, count: Quantity, kv_block_tokens: int = 1
) -> dict[str, Quantity]:
    """The statistics of one group, by name. Arrays broadcast; the caller keeps int64 from overflowing."""
    q, c, n, block = query_tokens, context_tokens, count, kv_block_tokens
    return {
        "tokens": n * q,  # type: ignore[operator]
        "sequences": n,
        "query_context": n * q * c,  # type: ignore[operator]
        "causal_query_context": n * (q * (c - q) + q * (q + 1) // 2),  # type: ignore[operator]
        "context": n * c,  # type: ignore[operator]
        "allocated_context": n * (-(-c // block) * block),  # type: ignore[operator]
    }
