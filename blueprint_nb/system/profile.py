"""What a model runs on: engines, memory, network tiers, and where every figure comes from."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from .._canonical import digest
from .._schema import Count, Number, Record
from ..errors import InvalidInputError, UnsupportedError, shown, unknown_name
from .engine import ComputeEngine
from .memory import DeviceMemory
from .network import NetworkTier

_NOT_OVERRIDABLE = ("name", "sources", "description", "kind")


class SystemProfile(Record):
    """One kind of device and the networks between them. Raises `InvalidInputError` for implausible figures."""

    not_content: ClassVar[frozenset[str]] = frozenset({"sources", "description"})

    name: str
    description: str = ""
    kind: Literal["reference", "datasheet", "custom"] = "custom"
    """`reference`: a preset that defines published figures. `datasheet`: figures of the vendor."""
    processing_mode: Literal["no_overlap", "roofline"]
    """How compute and memory time of one operation combine: added, or the larger of the two."""
    compute_units: Count | None = None
    """Streaming multiprocessors or compute units."""
    l2_cache_mib: Annotated[Number, Field(gt=0, le=10**5)] | None = None
    matrix: ComputeEngine
    """Tensor or matrix cores."""
    vector: ComputeEngine
    """Everything else that computes."""
    memory: DeviceMemory
    network: tuple[NetworkTier, ...]
    """Tier 0 is in the box, tier 1 between boxes."""
    sources: dict[str, str] = {}
    """Dotted path (or the start of one) of each figure to where it was published."""

    @model_validator(mode="after")
    def _has_network(self) -> Self:
        if not self.network:
            raise InvalidInputError("network", got="()", rule="must have at least one tier")
        return self

    @cached_property
    def revision(self) -> str:
        """Digest of every figure; texts don't count."""
        return digest(self)

    @property
    def datatypes(self) -> tuple[str, ...]:
        """Datatypes both engines have a peak for."""
        return tuple(name for name in self.matrix.datatypes if name in self.vector.datatypes)

    @property
    def missing_efficiency(self) -> tuple[str, ...]:
        """Paths of the efficiency figures that this profile lacks."""
        missing = [f"{name}.efficiency" for name in ("matrix", "vector", "memory") if getattr(self, name).efficiency is None]
        tiers = enumerate(self.network)
        return (*missing, *(f"network.{i}.efficiency_fraction" for i, t in tiers if t.efficiency_fraction is None))

    def tier(self, index: int, field: str) -> NetworkTier:
        """Tier `index`, as bound by `field`. Raises `InvalidInputError` where there is none."""
        if index >= len(self.network):
            tiers = ", ".join(f"{i} ({tier.name})" for i, tier in enumerate(self.network))
            raise InvalidInputError(field, got=str(index), rule=f"must be a network tier of {self.name}", next_step=f"It has {tiers}.")
        return self.network[index]

    def require_datatype(self, datatype: str) -> None:
        """Raises `UnsupportedError`, naming the figure, where an engine lacks a peak for `datatype`."""
        for name, engine in (("matrix", self.matrix), ("vector", self.vector)):
            try:
                engine.peak_flops(datatype)
            except UnsupportedError as error:
                raise error.under(f"{self.name}.{name}") from None

    def figures(self) -> Iterator[tuple[str, float]]:
        """(dotted path, value) of every number in the profile."""
        yield from _numbers("", self.model_dump(exclude_none=True, exclude=set(_NOT_OVERRIDABLE)))

    def source_of(self, path: str) -> str | None:
        """Where the figure at `path` was published; the longest declared start of the path counts."""
        parts = path.split(".")
        starts = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
        return next((self.sources[start] for start in starts if start in self.sources), None)

    def with_overrides(self, overrides: Mapping[str, Any]) -> Self:
        """A what-if copy with other figures; its name says which. Raises `InvalidInputError` with the path.

        Keys are dotted paths: "memory.bandwidth_gb_per_s", "network.0.latency_us", "matrix.float8_tflop_per_s".
        """
        content = self.model_dump()
        for path, value in overrides.items():
            _replace(content, path, value)
        content["name"] = self.name + "".join(f"+{path}={value!r}" for path, value in overrides.items())
        content["sources"] = {**self.sources, **dict.fromkeys(overrides, "what-if")}
        return type(self)(**content)


def _numbers(path: str, value: object) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _numbers(f"{path}.{key}" if path else str(key), item)
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            yield from _numbers(f"{path}.{index}", item)
    elif isinstance(value, (int, float)):
        yield path, value


def _replace(content: dict[str, Any], path: str, value: object) -> None:
    *parents, last = _parts(path)
    holder: Any = content
    for part in (*parents, last):
        keys = [str(i) for i in range(len(holder))] if isinstance(holder, list) else list(holder) if isinstance(holder, dict) else []
        if part not in keys or (holder is content and part in _NOT_OVERRIDABLE):
            known = [key for key in keys if not (holder is content and key in _NOT_OVERRIDABLE)]
            raise unknown_name(f"overrides[{path!r}]", part, known)
        key = int(part) if isinstance(holder, list) else part
        if part is last:
            holder[key] = copy.deepcopy(value)
            return
        if isinstance(holder[key], tuple):
            holder[key] = list(holder[key])
        holder = holder[key]


def _parts(path: object) -> list[str]:
    if not isinstance(path, str) or not path:
        raise InvalidInputError("overrides", got=shown(path), rule="must map dotted paths to values", next_step="For example memory.bandwidth_gb_per_s.")
    return path.split(".")
