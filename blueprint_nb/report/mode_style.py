"""How a cost mode looks wherever two are compared: its colour, and whether it is hollow."""

from __future__ import annotations

from typing import Any, Final

from .theme import GHOST_DASH, INK, MODE_COLOURS, PART_COLOURS

_HOLLOW: Final = "peak-only"


def is_hollow(mode: str) -> bool:
    """Whether bars of the mode are outlines."""
    return mode == _HOLLOW


def mode_colour(mode: str) -> str:
    """A mode without one of its own gets a colour of the parts."""
    return MODE_COLOURS.get(mode, PART_COLOURS[2])


def mode_fill(mode: str) -> dict[str, Any]:
    """Fill of a bar or a point."""
    return {"fill": mode_colour(mode), "fillOpacity": 0.18 if is_hollow(mode) else 1, "strokeWidth": 0.8}


def mode_stroke(mode: str) -> str:
    """Outline of a bar or a point: the hollow one's is all there is of it."""
    return mode_colour(mode) if is_hollow(mode) else INK


def mode_dash(mode: str) -> list[int]:
    """Of a line."""
    return GHOST_DASH if is_hollow(mode) else [1, 0]
