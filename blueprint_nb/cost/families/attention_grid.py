"""The grids of CTAs that a decode kernel may be split into: what each unit gets, before any parameter.

A grid below the line at which nothing is split any more may still be left whole; it is then charged as one that reaches
the line, and a split of KV too short for one as the shortest that may be split. So no grid gets quicker as it grows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from .attention import PARTIAL_BYTES
from .machine import Machine
from .split_rule import FULL_FRACTION, SplitRule, split_runs


@dataclass(frozen=True, slots=True)
class Grid:
    """Arrays of shape (rows, splits), or broadcast to it; of pairs of a row and a split, of shape (pairs,)."""

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


Side = Literal["lower", "upper"]
"""Of the time: where a rule is erratic it lies between two envelopes."""


@dataclass(frozen=True, slots=True)
class Work:
    """What splits divide; arrays of shape (rows, 1), or of shape (pairs,) of a row with one split."""

    rule: SplitRule
    machine: Machine
    unsplit_ctas: Any
    may_split: Any
    tile_rows: Any
    """Of a tile that hold a query."""
    blocks: Any
    block_tokens: Any
    head_size: Any

    @property
    def sides(self) -> tuple[Side, ...]:
        """The quickest grid of `lower` is the time; the slowest of `upper` an erratic rule's upper envelope."""
        return ("lower", "upper") if self.rule.capacity_tokens else ("lower",)

    def at(self, rows: Any) -> Work:
        """As indexed by `rows`."""
        return replace(self, **{name: getattr(self, name)[rows] for name in _ARRAYS})

    def alternatives(self, side: Side) -> Any:
        """Splits that some row may have: indices of shape (splits,)."""
        if self.rule.capacity_tokens:
            first, last, _ = self._runs
            possible = self.unsplit_ctas <= last if side == "lower" else self.unsplit_ctas >= first
            return np.flatnonzero(possible.any(axis=0))
        return np.arange(len(self.rule.counts) if self.may_split.any() else 1)

    def grid(self, side: Side, alternatives: Any) -> Grid:
        """With the splits that have the indices `alternatives`."""
        if not self.rule.capacity_tokens:
            return self._by_context(self.rule.counts[alternatives])
        first, last, counts = (ends[alternatives] for ends in self._runs)
        if side == "lower":
            return self._by_capacity(counts, np.maximum(self.unsplit_ctas, first), self.unsplit_ctas <= last, np.inf)
        return self._by_capacity(counts, np.minimum(self.unsplit_ctas, last), self.unsplit_ctas >= first, 0.0)

    @property
    def _runs(self) -> tuple[Any, Any, Any]:
        return split_runs(self.machine.compute_units, -(-self.rule.capacity_tokens // self.rule.block_tokens[1]))

    def _by_context(self, splits: Any) -> Grid:
        rule = self.rule
        left_whole = (splits == 1) & self.may_split & (self.blocks > rule.unsplit_blocks)
        line = FULL_FRACTION * self.machine.compute_units
        raised = np.where(left_whole, np.maximum(self.unsplit_ctas, line), self.unsplit_ctas)
        units = self.unsplit_ctas if rule.free else raised
        blocks = np.where(splits > 1, np.maximum(self.blocks, rule.unsplit_blocks + 1.0), self.blocks)
        possible = (splits == 1) | self.may_split
        return self._grid(splits, units, possible, np.ceil(blocks / splits), np.minimum(splits, blocks), np.inf)

    def _by_capacity(self, counts: Any, nearest: Any, possible: Any, none: float) -> Grid:
        """The least or the largest grid with each count, at or above the one at hand or at or below it."""
        held = np.ceil(np.ceil(self.rule.capacity_tokens / self.block_tokens) / counts)
        return self._grid(counts, nearest, possible, np.minimum(self.blocks, held), np.ceil(self.blocks / held), none)

    def _grid(self, splits: Any, units: Any, possible: Any, blocks: Any, busy: Any, none: float) -> Grid:
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
            parts_seconds=PARTIAL_BYTES * partials / machine.bytes_per_second,
            idle_parts_per_unit=units * (splits - 1.0) / machine.compute_units,
        )


_ARRAYS: Final = ("unsplit_ctas", "may_split", "tile_rows", "blocks", "block_tokens", "head_size")
