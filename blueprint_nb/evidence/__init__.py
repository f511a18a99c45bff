"""Measured files and tables, and what they become: observations.

Knows only units and errors: neither models nor systems, nor what a cost is.
"""

from .aiconfigurator import AiconfiguratorImporter
from .checks import checked
from .imported import Imported, merged
from .observations import COLUMNS, ELEMENT_BYTES, FAMILIES, SHAPES, SOURCE_KEY, observation_frame
from .sources import one_source, source_keys
from .vidur import VidurProfileImporter

__all__ = [
    "COLUMNS",
    "ELEMENT_BYTES",
    "FAMILIES",
    "SHAPES",
    "SOURCE_KEY",
    "AiconfiguratorImporter",
    "Imported",
    "VidurProfileImporter",
    "checked",
    "merged",
    "observation_frame",
    "one_source",
    "source_keys",
]
