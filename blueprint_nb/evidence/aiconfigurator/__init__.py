"""The measured tables of the package `aiconfigurator-core`, read where it is installed and never copied."""

from .importer import AiconfiguratorImporter
from .tables import MeasuredTable

__all__ = ["AiconfiguratorImporter", "MeasuredTable"]
