"""Measured files and tables, and what they become: observations, in a database that only grows.

Knows only units and errors: neither models nor systems, nor what a cost is.
"""

from .aiconfigurator import AiconfiguratorImporter
from .checks import checked
from .database import PerformanceDatabase
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
    "PerformanceDatabase",
    "VidurProfileImporter",
    "checked",
    "merged",
    "observation_frame",
    "one_source",
    "source_keys",
]
