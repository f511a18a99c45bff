"""A kernel family: a cost form with few parameters, which belong to a device and a software stack, never to a model.

A form says how long one kernel takes from its shape and the machine's figures, by named terms. It is evaluated in two
steps, so that a fit prepares what no parameter changes once. Time never falls as work grows: each form is built of
terms that do not, and of minima and sums of such terms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from .machine import Machine


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a form, and where a fit may look for it."""

    name: str
    """Ends in its unit; a `_fraction` is of the machine's figure."""
    start: float
    lowest: float
    highest: float
    meaning: str
    is_scale: bool = True
    """Whether a fit moves it by factors; otherwise by steps."""


Bound = Literal["floor", "compute", "memory", "network"]
"""`floor`: added whatever the work is. The others overlap: the largest of each counts."""


@dataclass(frozen=True, slots=True)
class KernelTime:
    """Seconds of kernels, and of each term by itself; float64 arrays of the shapes' shape."""

    seconds: Any
    terms: Mapping[str, Any]
    """Seconds. Terms overlap, so they need not add up."""
    counts: Mapping[str, Any] = field(default_factory=dict)
    """What the terms were made of: CTAs, waves, splits."""


class Family(ABC):
    """A cost form."""

    name: str
    dimensions: tuple[str, ...]
    """Names of the shape's columns (integers)."""
    size: str
    """The dimension that grows with a step's tokens: errors are told by its octaves (see `cost.octaves`)."""
    parameters: tuple[Parameter, ...]
    bounds: Mapping[str, Bound]
    """Term to what it counts as."""

    @abstractmethod
    def prepare(self, shape: Mapping[str, Any], machine: Machine) -> Any:
        """What no parameter changes, of shapes given as arrays of shape (rows,) by dimension."""

    @abstractmethod
    def seconds(self, prepared: Any, values: Mapping[str, float]) -> Any:
        """Seconds of each shape: float64 of shape (rows,)."""

    def narrowed(self, prepared: Any, values: Mapping[str, float], alternatives: int) -> Any:
        """`prepared` with the few alternatives of each shape that are fastest by `values`, where a form has many.

        Near `values` it gives the same seconds: a fit takes its small steps on it.
        """
        return prepared

    @abstractmethod
    def kernel_time(self, prepared: Any, values: Mapping[str, float]) -> KernelTime:
        """Seconds of each shape with its terms."""

    @abstractmethod
    def explain(self, shape: Mapping[str, int], machine: Machine, values: Mapping[str, float]) -> str:
        """One shape's time in words: tiles, waves, what bounds it."""


def column(shape: Mapping[str, Any], name: str) -> Any:
    """A shape's dimension as float64, exact below 2^53, with an axis for alternatives behind it."""
    return np.asarray(shape[name], dtype=np.float64)[..., None]
