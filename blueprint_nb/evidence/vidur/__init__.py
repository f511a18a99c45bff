"""Vidur's profile files: measured GPU kernel times of the components of a decoder block, as CSV."""

from .columns import DATATYPE, KINDS, OPERATORS, PHASE_OF, TENSOR_PARALLEL, FileKind, Key
from .importer import APPENDS, VidurProfileImporter
from .layout import HOST, ProfileFile, profile_files
from .reader import read_profile
from .table import Fault, ProfileTable

__all__ = [
    "APPENDS",
    "DATATYPE",
    "HOST",
    "KINDS",
    "OPERATORS",
    "PHASE_OF",
    "TENSOR_PARALLEL",
    "Fault",
    "FileKind",
    "Key",
    "ProfileFile",
    "ProfileTable",
    "VidurProfileImporter",
    "profile_files",
    "read_profile",
]
