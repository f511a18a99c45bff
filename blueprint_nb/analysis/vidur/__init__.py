"""Vidur's profiles as an oracle that is read only after an estimate is made."""

from .baseline import VidurProfileBaseline
from .corpus import VidurCorpus
from .identity import BaselineIdentity
from .reference import VidurReference
from .slices import EMBEDDED_SLICE, load_manifest, load_slice, slice_names
from .subject import Subject

__all__ = [
    "EMBEDDED_SLICE",
    "BaselineIdentity",
    "Subject",
    "VidurCorpus",
    "VidurProfileBaseline",
    "VidurReference",
    "load_manifest",
    "load_slice",
    "slice_names",
]
