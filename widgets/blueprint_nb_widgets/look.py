"""The style sheet, which travels with each explorer and error table."""

from __future__ import annotations

from importlib import resources

import ipywidgets

_FILES = ("explorer.css", "errors.css")


def style_sheet() -> ipywidgets.HTML:
    """A widget that holds the CSS of explorer and error table and shows nothing."""
    folder = resources.files(__package__)
    css = "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in _FILES)
    sheet = ipywidgets.HTML(f"<style>{css}</style>")
    sheet.add_class("bp-style")
    return sheet
