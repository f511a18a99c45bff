"""The version of the installed project."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("blueprint-nb")
except PackageNotFoundError:
    __version__ = "0+unknown"
