"""Collectives and point-to-point transfers: the quickest of a few protocols, each a line.

    latency  = start + (ranks − 1) · rank
    transfer = bytes · bus factor / (bandwidth · fraction · (ranks / 2)^exponent)
    time     = min over protocols of (latency + transfer)

The bus factor is what crosses a device's links for each byte of the message: 2(n − 1)/n for an all-reduce, (n − 1)/n
for an all-gather or a reduce-scatter, 1 from point to point. Protocols are those of NCCL: low-latency, low-latency-128,
simple, and simple over all channels or in the switch. A serving engine may reduce small messages itself; then the first
two are its own below a size and NCCL's last two follow, never below what its own took there. Source: `PERFORMANCE.md`
of nccl-tests, NCCL's documentation of NCCL_PROTO. Left out: groups that cross tiers, other traffic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...errors import unknown_name
from ...units import format_bytes, format_decimal, format_seconds
from .family import Bound, Family, KernelTime, Parameter, column
from .link import Link
from .machine import Machine

_PER_BYTE: Final[Mapping[str, tuple[float, float]]] = {
    "all_reduce": (2.0, -1.0),
    "all_gather": (1.0, -1.0),
    "reduce_scatter": (1.0, -1.0),
    "point_to_point": (1.0, 0.0),
}
"""Collective to (m, k): m · (1 + k / n) of the message crosses."""

COLLECTIVES: Final = tuple(_PER_BYTE)

_PROTOCOLS: Final = ("low_latency", "low_latency_128", "simple", "wide")
_OWN: Final = 2
"""As many of the first are a serving engine's own, where it has its own."""

_STARTS: Final = ((4e-6, 1e-6, 0.05), (7e-6, 1.5e-6, 0.3), (1.4e-5, 2e-6, 0.55), (3e-5, 4e-6, 0.75))


def _parameters(protocol: str, start: float, rank: float, fraction: float) -> tuple[Parameter, ...]:
    return (
        Parameter(f"{protocol}_seconds", start, 5e-7, 4e-4, "start and end"),
        Parameter(f"{protocol}_rank_seconds", rank, 1e-9, 6e-5, "each further rank"),
        Parameter(f"{protocol}_bandwidth_fraction", fraction, 1e-3, 1.3, "of the link's, between two ranks"),
        Parameter(f"{protocol}_rank_exponent", 0.0, -2.0, 1.0, "how that grows with half the ranks", is_scale=False),
    )


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Arrays of shape (rows, 1)."""

    further_ranks: Any
    half_ranks: Any
    wire_seconds: Any
    """Of what crosses at the bandwidth of the link."""
    own_wire_seconds: Any
    """The same of at most what the engine reduces itself."""
    is_own: Any


class Collective(Family):
    """One kind of collective over one kind of link; below `own_bytes` by the engine. Raises `UnknownNameError`."""

    dimensions = ("message_bytes", "ranks")
    size = "message_bytes"
    bounds: Mapping[str, Bound] = {"latency": "floor", "transfer": "network"}
    parameters = tuple(
        parameter
        for protocol, starts in zip(_PROTOCOLS, _STARTS, strict=True)
        for parameter in _parameters(protocol, *starts)
    )

    def __init__(self, name: str, link: Link, *, own_bytes: int = 0) -> None:
        if name not in _PER_BYTE:
            raise unknown_name("collective", name, _PER_BYTE)
        self.name = name
        self.link = link
        self.own_bytes = own_bytes

    def prepare(self, shape: Mapping[str, Any], machine: Machine | None = None) -> _Prepared:
        """Of message bytes and ranks. The machine says nothing: what counts is the link."""
        message, ranks = (column(shape, name) for name in self.dimensions)
        multiple, coefficient = _PER_BYTE[self.name]
        per_byte = multiple * (1.0 + coefficient / ranks) / self.link.to_group(ranks)
        return _Prepared(
            further_ranks=ranks - 1.0,
            half_ranks=ranks / 2.0,
            wire_seconds=message * per_byte,
            own_wire_seconds=np.minimum(message, self.own_bytes) * per_byte,
            is_own=message < self.own_bytes,
        )

    def seconds(self, prepared: _Prepared, values: Mapping[str, float]) -> Any:
        """The quickest protocol's."""
        return self._chosen(prepared, values)[0]

    def kernel_time(self, prepared: _Prepared, values: Mapping[str, float]) -> KernelTime:
        """Terms: latency and transfer, which add up to the seconds; as a count, the index of the protocol."""
        seconds, protocol = self._chosen(prepared, values)
        latencies = _latencies(prepared, values)
        latency = np.take_along_axis(latencies, protocol[:, None], axis=-1)[:, 0]
        return KernelTime(seconds, {"latency": latency, "transfer": seconds - latency}, {"protocol": protocol})

    def explain(self, shape: Mapping[str, int], machine: Machine | None, values: Mapping[str, float]) -> str:
        """ "64.0 MiB among 8 ranks at 300 GB/s: wide; transfer 380 µs; latency 31 µs"."""
        prepared = self.prepare({name: np.array([shape[name]]) for name in self.dimensions})
        time = self.kernel_time(prepared, values)
        protocol = _PROTOCOLS[time.counts["protocol"][0]].replace("_", " ")
        reached = float(self.link.to_group(shape["ranks"]))
        return (
            f"{format_bytes(shape['message_bytes'])} among {shape['ranks']} ranks at {format_decimal(reached, 'B/s')}: "
            f"{protocol}; transfer {format_seconds(float(time.terms['transfer'][0]))}; "
            f"latency {format_seconds(float(time.terms['latency'][0]))}"
        )

    def _chosen(self, prepared: _Prepared, values: Mapping[str, float]) -> tuple[Any, Any]:
        """Seconds and protocol of each row."""
        latencies, slowness = _latencies(prepared, values), _slowness(prepared, values)
        lines = latencies + prepared.wire_seconds * slowness
        if not self.own_bytes:
            return lines.min(axis=-1), lines.argmin(axis=-1)
        own = (latencies + prepared.own_wire_seconds * slowness)[:, :_OWN]
        library = lines[:, _OWN:]
        is_own = prepared.is_own[:, 0]
        handed_over = np.maximum(library.min(axis=-1), own.min(axis=-1))
        seconds = np.where(is_own, own.min(axis=-1), handed_over)
        return seconds, np.where(is_own, own.argmin(axis=-1), _OWN + library.argmin(axis=-1))


def _latencies(prepared: _Prepared, values: Mapping[str, float]) -> Any:
    """Of every protocol: shape (rows, protocols)."""
    return _each("seconds", values) + prepared.further_ranks * _each("rank_seconds", values)


def _slowness(prepared: _Prepared, values: Mapping[str, float]) -> Any:
    """Seconds of every protocol for one second at the bandwidth of the link."""
    return 1.0 / (_each("bandwidth_fraction", values) * prepared.half_ranks ** _each("rank_exponent", values))


def _each(name: str, values: Mapping[str, float]) -> Any:
    return np.array([values[f"{protocol}_{name}"] for protocol in _PROTOCOLS])
