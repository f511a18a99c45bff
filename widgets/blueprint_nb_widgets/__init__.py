"""The explorer and its error table: controls and charts over the engine `blueprint_nb`, for JupyterLab."""

from .error_table import VidurErrorTable
from .explorer import Explorer

__all__ = ["Explorer", "VidurErrorTable"]
