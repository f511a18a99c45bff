"""The grids of CTAs that a decode kernel may be split into: what each unit gets, before any parameter.

A grid below the line at which nothing is split any more may still be left whole; it is then charged as one that reaches
the line, and a split of KV too short for one as the shortest that may be split. So no grid gets quicker as it grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .machine import Machine
from .split_rule import FULL_FRACTION, SplitRule, split_runs

_PARTIAL_BYTES: Final = 8.0
"""An FP32 partial result, written and read back."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Arrays of shape (rows, splits), or that broadcast to it."""

    splits: Any
    possible: Any
    none: float
    """Seconds that keep an impossible split from being chosen."""
    ctas: Any
    """That have KV to go through."""
    ctas_per_unit: Any
    blocks: Any
    """Of KV that one CTA goes through."""
    compute_seconds: Any
    """Of the tiles' operations at the peak."""
    parts_seconds: Any
    """Of the partial results at the bandwidth of the memory."""
    idle_parts_per_unit: Any


@dataclass(frozen=True, slots=True)
class _Work:
    """What splits divide; arrays of shape (rows, 1)."""

    rule: SplitRule
    machine: Machine
    tile_rows: Any
    """Of a tile that hold a query."""
    blocks: Any
    block_tokens: Any
    head_size: Any

    def grid(self, splits: Any, units: Any, possible: Any, blocks: Any, busy: Any, none: float) -> Grid:
        """`units` unsplit CTAs, `busy` parts of each with `blocks` blocks."""
        machine = self.machine
        block_flops = 4.0 * self.rule.tile_rows * self.block_tokens * self.head_size
        taken = np.minimum(busy * blocks, self.blocks + splits)
        partials = units * self.tile_rows * splits * (self.head_size + 1.0)
        return Grid(
            splits=splits,
            possible=possible,
            none=none,
            ctas=units * busy,
            ctas_per_unit=units * busy / machine.compute_units,
            blocks=blocks,
            compute_seconds=units * taken * block_flops / machine.matrix_flops,
            parts_seconds=_PARTIAL_BYTES * partials / machine.bytes_per_second,
            idle_parts_per_unit=units * (splits - 1.0) / machine.compute_units,
        )


def grids(
    rule: SplitRule, machine: Machine, *, unsplit_ctas: Any, is_packed: Any, **work: Any
) -> tuple[Grid, Grid | None]:
    """Grids whose quickest is the time; for an erratic rule, those whose slowest is the time's upper envelope too."""
    whole = _Work(rule, machine, **work)
    if rule.capacity_tokens:
        return _by_capacity(whole, unsplit_ctas)
    return _by_context(whole, unsplit_ctas, may_split=rule.splits_multi_head | is_packed), None


def _by_context(work: _Work, unsplit_ctas: Any, may_split: Any) -> Grid:
    rule = work.rule
    splits = rule.counts if may_split.any() else np.ones(1)
    left_whole = (splits == 1) & may_split & (work.blocks > rule.unsplit_blocks)
    line = FULL_FRACTION * work.machine.compute_units
    units = unsplit_ctas if rule.free else np.where(left_whole, np.maximum(unsplit_ctas, line), unsplit_ctas)
    blocks = np.where(splits > 1, np.maximum(work.blocks, rule.unsplit_blocks + 1.0), work.blocks)
    return work.grid(
        splits, units, (splits == 1) | may_split, np.ceil(blocks / splits), np.minimum(splits, blocks), np.inf
    )


def _by_capacity(work: _Work, unsplit_ctas: Any) -> tuple[Grid, Grid]:
    """The least and the largest grid with each count, at or above the one at hand, and at or below it."""
    capacity = work.rule.capacity_tokens
    units = work.machine.compute_units
    first, last, counts = split_runs(units, -(-capacity // work.rule.block_tokens[1]))

    def side(nearest: Any, possible: Any, none: float) -> Grid:
        kept = np.flatnonzero(possible.any(axis=0))
        held = np.ceil(np.ceil(capacity / work.block_tokens) / counts[kept])
        blocks, busy = np.minimum(work.blocks, held), np.ceil(work.blocks / held)
        return work.grid(counts[kept], nearest[:, kept], possible[:, kept], blocks, busy, none)

    return (
        side(np.maximum(unsplit_ctas, first), unsplit_ctas <= last, np.inf),
        side(np.minimum(unsplit_ctas, last), unsplit_ctas >= first, 0.0),
    )
