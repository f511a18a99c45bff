"""What a model runs on: engines, memory, network tiers, and where every figure comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from .._canonical import digest, plain
from .._schema import Count, Number, Record, Text, as_number
from ..errors import InvalidInputError, UnsupportedError, shown, unknown_name
from .engine import ComputeEngine
from .memory import DeviceMemory
from .network import NetworkTier

_NOT_FIGURES = ("name", "sources", "description", "kind", "calibrations")


class SystemProfile(Record):
    """One kind of device and the networks between them. Raises `InvalidInputError` where figures can't be."""

    not_content: ClassVar[frozenset[str]] = frozenset({"sources", "description", "calibrations"})

    name: Text
    description: Text = ""
    kind: Literal["reference", "datasheet", "custom"] = "custom"
    """`reference`: a preset that defines published figures. `datasheet`: the vendor's. `custom`: others."""
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
    """Tier 0 reaches the whole box; then what is within it, such as bridges of pairs; the last one is between boxes."""
    calibrations: tuple[Text, ...] = ()
    """Sets of fitted parameters that price this device, the best first; the pooled one stands behind them all."""
    sources: dict[Text, Text] = Field(default_factory=dict)
    """Dotted path (or the start of one) of each figure to where it was published."""

    @model_validator(mode="after")
    def _has_network(self) -> Self:
        if not self.network:
            raise InvalidInputError("network", got="()", rule="must have at least one tier")
        return self

    @cached_property
    def revision(self) -> str:
        """Digest of the name and of every figure; the description and the sources don't count."""
        return digest(self)

    @property
    def base_name(self) -> str:
        """Name of the system that this is a what-if of; its own where it is none."""
        return self.name.partition("+")[0]

    @property
    def felt_figures(self) -> tuple[object, ...]:
        """The figures that a kernel's or collective's fitted time may depend on; by all others it takes as long."""
        peaks = {name: self.matrix.peak_flops(name) for name in self.matrix.datatypes}
        links = ((tier.name, tier.bandwidth_gb_per_s, tier.peer_bandwidth_gb_per_s) for tier in self.network)
        return (self.compute_units, self.l2_cache_mib, peaks, self.memory.bandwidth_gb_per_s, *links)

    @property
    def datatypes(self) -> tuple[str, ...]:
        """Datatypes both engines have a peak for."""
        return tuple(name for name in self.matrix.datatypes if name in self.vector.datatypes)

    @property
    def missing_efficiency(self) -> tuple[str, ...]:
        """Paths of the efficiency figures that this profile lacks."""
        parts = (("matrix", self.matrix), ("vector", self.vector), ("memory", self.memory))
        curves = (f"{name}.efficiency" for name, part in parts if part.efficiency is None)
        tiers = enumerate(self.network)
        return (
            *curves,
            *(f"network.{i}.efficiency_fraction" for i, t in tiers if t.efficiency_fraction is None),
        )

    def tier(self, index: int, field: str, ranks: int = 1) -> NetworkTier:
        """Tier `index`, as bound by `field`, for a group of `ranks`.

        Raises `InvalidInputError` where there is none, or it does not reach so many.
        """
        if not 0 <= index < len(self.network):
            tiers = ", ".join(f"{i} ({tier.name})" for i, tier in enumerate(self.network))
            rule = f"must be a network tier of {self.name}"
            raise InvalidInputError(field, got=str(index), rule=rule, next_step=f"It has {tiers}.")
        tier = self.network[index]
        if ranks > tier.max_ranks:
            raise InvalidInputError(
                field.replace("_network", ""),
                got=f"{ranks:,}",
                rule=f"must be at most {tier.max_ranks:,}, the ranks that network tier {index} ({tier.name}) "
                f"of {self.name} reaches",
                next_step=f"Use fewer ranks, or another {field}.",
            )
        return tier

    def require_datatype(self, datatype: str) -> None:
        """Raises `UnsupportedError`, naming the figure, where an engine lacks a peak for `datatype`."""
        for name, engine in (("matrix", self.matrix), ("vector", self.vector)):
            try:
                engine.peak_flops(datatype)
            except UnsupportedError as error:
                raise error.under(f"{self.name}.{name}") from None

    def figures(self) -> Iterator[tuple[str, float]]:
        """(dotted path, value) of every number in the profile."""
        yield from _numbers("", self.model_dump(exclude_none=True, exclude=set(_NOT_FIGURES)))

    def source_of(self, path: str) -> str | None:
        """Where the figure at `path` was published; the longest declared start of the path counts."""
        parts = path.split(".")
        starts = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
        return next((self.sources[start] for start in starts if start in self.sources), None)

    def with_overrides(self, overrides: Mapping[str, Any]) -> Self:
        """A what-if copy of kind `custom`; its name says what changed. Raises `InvalidInputError`.

        Keys are dotted paths: "memory.bandwidth_gb_per_s", "network.0.latency_us". It keeps its `calibrations` where
        none of the `felt_figures` differs; else it is a device that nobody measured, and has none.
        """
        if not isinstance(overrides, Mapping):
            raise _no_overrides(overrides)
        if not overrides:
            return self
        content = plain(self)
        for path, value in overrides.items():
            _replace(content, path, value)
            kept = {key: text for key, text in content["sources"].items() if not key.startswith(f"{path}.")}
            content["sources"] = {**kept, path: "what-if"}
        content["kind"] = "custom"
        content["name"] = self.name + "".join(f"+{path}={_said(value)}" for path, value in overrides.items())
        changed = type(self)(**content)
        if changed.felt_figures == self.felt_figures:
            return changed
        return changed.model_copy(update={"calibrations": ()})

    def __hash__(self) -> int:
        return hash(self.revision)


def _numbers(path: str, value: object) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _numbers(f"{path}.{key}" if path else str(key), item)
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            yield from _numbers(f"{path}.{index}", item)
    elif isinstance(value, (int, float)):
        yield path, value


def _replace(content: dict[str, Any], path: object, value: object) -> None:
    if not isinstance(path, str) or not path:
        raise _no_overrides(path)
    *parents, last = path.split(".")
    holder: Any = content
    for depth, part in enumerate(parents):
        holder = holder[_key(holder, part, path, at_top=depth == 0)]
    holder[_key(holder, last, path, at_top=not parents)] = value


def _no_overrides(got: object) -> InvalidInputError:
    next_step = "For example memory.bandwidth_gb_per_s."
    return InvalidInputError("overrides", got=shown(got), rule="must map dotted paths to values", next_step=next_step)


def _key(holder: object, part: str, path: str, *, at_top: bool) -> Any:
    """`part` as a key of `holder`. Raises `UnknownNameError`."""
    known: list[str] = []
    if isinstance(holder, list):
        known = [str(index) for index in range(len(holder))]
    elif isinstance(holder, dict):
        known = [key for key in holder if not (at_top and key in _NOT_FIGURES)]
    if part not in known:
        raise unknown_name(f"overrides[{path!r}]", part, known)
    return int(part) if isinstance(holder, list) else part


def _said(value: object) -> str:
    """A number as short as it reads, whatever type it came in, so that 4000 and 4000.0 make one name."""
    try:
        return f"{as_number(value):.12g}"
    except InvalidInputError:
        return shown(value)
