"""Time cells: milliseconds, or a fault that says which rule a cell breaks.

An empty cell was not measured. A column that holds for one phase says nothing on the rows of the other, and an
operator that newer files time under other names is gathered from all of them. A fault never stops a file from being
read: the row keeps its key, and its time is NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .cells import BLANKS, numbers
from .columns import PHASE_OF
from .faults import CellFaults
from .header import time_column
from .table import Fault

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Times", "spread_values", "time_values"]

SHORTEST_MILLISECONDS: Final = 0.0005
"""The profiler's timer counts microseconds, so that a median of repeats is half of one at least, unless it is 0."""
LONGEST_ELEMENTWISE_MILLISECONDS: Final = 1_000.0
"""A pass over the whole memory of a GPU takes some tens of milliseconds: 80 GB at 2 TB/s, 40."""
LONGEST_MILLISECONDS: Final = 100_000.0
"""A matrix product or attention can take seconds; minutes are microseconds that were taken for milliseconds."""
_ELEMENTWISE: Final = frozenset(
    ("emb", "input_layernorm", "post_attention_layernorm", "attn_rope", "mlp_act", "add", "attn_kv_cache_save")
)


class Times(NamedTuple):
    """What one operator took."""

    milliseconds: NDArray[np.float64]
    faults: Mapping[int, Fault]


def time_values(
    operator: str, cells: Mapping[str, pl.Series], is_prefill: NDArray[np.int64] | None, lines: NDArray[np.int64]
) -> Times:
    """The time of each row. `cells` holds the text of each column that times `operator`, the oldest name first."""
    text, source = _gathered(cells, is_prefill)
    values = numbers(text)
    broken, rules = _broken_rules(operator, values, text)
    rows = np.flatnonzero(broken >= 0)
    faults = CellFaults(
        rows,
        lines=lines[rows],
        columns=[time_column(name) for name in cells],
        column_of=source[rows],
        texts=text.gather(rows),
        rules=rules,
        rule_of=broken[rows],
    )
    milliseconds = np.where(broken < 0, values, np.nan)
    milliseconds.flags.writeable = False
    return Times(milliseconds, faults)


def spread_values(
    ends: Mapping[str, tuple[pl.Series, pl.Series]], is_prefill: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Largest less smallest repeat of each row; NaN where that is no number from 0.

    `ends` holds the texts of the smallest and of the largest repeat by the name of what is timed, the oldest first.
    """
    low, high = (numbers(_gathered({name: pair[end] for name, pair in ends.items()}, is_prefill)[0]) for end in (0, 1))
    spread: NDArray[np.float64] = np.full(len(low), np.nan)
    np.subtract(high, low, out=spread, where=np.isfinite(low) & np.isfinite(high))
    spread[~(spread >= 0)] = np.nan
    spread.flags.writeable = False
    return spread


def _gathered(
    cells: Mapping[str, pl.Series], is_prefill: NDArray[np.int64] | None
) -> tuple[pl.Series, NDArray[np.int64]]:
    """The text of each row and the number of the column it is from: the newest one that isn't empty."""
    import polars as pl

    text, source = pl.Series([""], dtype=pl.String), np.zeros(1, np.int64)
    for number, (name, column) in enumerate(cells.items()):
        holds = (column.str.strip_chars(BLANKS) != "").to_numpy()
        if name in PHASE_OF and is_prefill is not None:
            holds = holds & (is_prefill == PHASE_OF[name])
        text = column.zip_with(pl.Series(holds), text)
        source = np.where(holds, number, source)
    return text, source


def _broken_rules(
    operator: str, values: NDArray[np.float64], text: pl.Series
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """The number of the first rule that each row breaks, or -1; and the rules."""
    longest = LONGEST_ELEMENTWISE_MILLISECONDS if operator in _ELEMENTWISE else LONGEST_MILLISECONDS
    broken = {
        "must be a number": np.isnan(values) & (text != "").to_numpy(),
        "must be finite": np.isinf(values),
        "must be positive": values <= 0,
        f"must be at least {SHORTEST_MILLISECONDS} ms, half a tick of the profiler's timer (wrong unit?)": values
        < SHORTEST_MILLISECONDS,
        f"must be at most {longest:,.0f} ms (wrong unit?)": values > longest,
    }
    return np.select(list(broken.values()), range(len(broken)), -1), tuple(broken)
