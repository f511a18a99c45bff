"""Drawings as a page holds them: ids of their own, and nothing said twice, so that a page of many stays small."""

from __future__ import annotations

import re
from typing import Final

from .theme import FONT

_FONT: Final = f' font-family="{FONT}"'
_UNPAINTED: Final = re.compile(r'<path class="(?:background|foreground)"(?![^<>]* (?:fill|stroke)=)[^<>]*/>')
_NEEDLESS: Final = re.compile(r' (?:class="mark-[^"<>]*"|pointer-events="none"|opacity="1"|stroke-width="1"|[xy]2="0")')
"""What only a script would read, and what is so by default."""

_COORDINATES: Final = re.compile(r' (?:d|transform|[xy][12]?|width|height)="[^"<>]*"')
_LONG_NUMBER: Final = re.compile(r"-?\d+\.\d{3,}(?![\de])")
_OWN: Final = re.compile(r'(id="|url\(#)((?:clip|gradient)[\w-]*)')


def page_svg(svg: str, prefix: str) -> str:
    """What Vega drew, for a page: its ids start with `prefix`."""
    needed = _NEEDLESS.sub("", _UNPAINTED.sub("", svg))
    rounded = _COORDINATES.sub(lambda found: _LONG_NUMBER.sub(_hundredths, found[0]), needed)
    # The font is said once, for the whole drawing.
    once = rounded.replace(_FONT, "").replace("<svg ", f"<svg{_FONT} ", 1)
    return _own_ids(once, prefix)


def _hundredths(number: re.Match[str]) -> str:
    """Of a pixel: a screen has no dots for more."""
    return f"{float(number[0]):.2f}"


def _own_ids(svg: str, prefix: str) -> str:
    """Clips and gradients under names of this drawing alone: Vega counts them through the life of its process."""
    names: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        return match[1] + names.setdefault(match[2], f"{prefix}-{len(names)}")

    return _OWN.sub(renamed, svg)
