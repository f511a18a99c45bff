"""What stands below a chart's title, in lines no wider than the chart: a longer one would shrink all of it.

A drawing that is wider than its place is scaled down whole, and a title counts as a part of it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

_CHARACTER_WIDTH: Final = 6.2
"""Pixels of a character on average, in 12 pixels of a wide sans-serif face."""
_BETWEEN: Final = " · "


def title_lines(parts: Sequence[str], width: int) -> list[str]:
    """`parts` in as few lines of at most `width` pixels as there are; one that is longer by itself breaks at words."""
    most = max(1, int(width / _CHARACTER_WIDTH))
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(_BETWEEN) + len(part) <= most:
            lines[-1] += _BETWEEN + part
        else:
            lines += textwrap.wrap(part, most, break_long_words=False)
    return lines
