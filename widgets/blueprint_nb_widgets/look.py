"""The style sheet, which travels with each explorer."""

from __future__ import annotations

from importlib import resources

import ipywidgets


def style_sheet() -> ipywidgets.HTML:
    """A widget that holds the explorer's CSS and shows nothing."""
    css = resources.files(__package__).joinpath("explorer.css").read_text(encoding="utf-8")
    sheet = ipywidgets.HTML(f"<style>{css}</style>")
    sheet.add_class("bp-style")
    return sheet
