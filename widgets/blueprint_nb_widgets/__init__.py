"""The explorer: controls and charts over the engine `blueprint_nb`, for JupyterLab."""

from .explorer import Explorer

__all__ = ["Explorer"]
