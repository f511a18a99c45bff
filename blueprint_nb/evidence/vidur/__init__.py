"""Vidur's profile files: measured GPU kernel times of the components of a decoder block, as CSV."""

from .columns import KINDS, OPERATORS, FileKind, Key
from .reader import read_profile
from .table import Fault, ProfileTable

__all__ = ["KINDS", "OPERATORS", "Fault", "FileKind", "Key", "ProfileTable", "read_profile"]
