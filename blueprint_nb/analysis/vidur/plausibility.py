"""Whether a measured time can be one, by what the component had to do on that machine.

The bounds are wide: they catch a wrong unit and a column that physics rules out, not a slow kernel. In the files they
were tried on (A100, H100, A40; ten operators) no time is more than 5 times the roofline and 120 µs on top, and none is
less than 0.7 of it, a microsecond allowed for the timer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...cost import ComponentActivity
from ...cost.analytical import compute_seconds, memory_seconds
from ...errors import UnsupportedError
from ...evidence.vidur import DATATYPE
from ...system import SystemProfile
from ...units import GIGA, MEGA, format_decimal, format_seconds, three_digits
from .reference import VidurReference, noted

_SLOWEST_RATIO: Final = 10.0
_COMPUTE_UNITS: Final = 150
"""Where a system does not say how many compute units it has. Attention without split-KV may keep all but one idle."""

_LAUNCH_SECONDS: Final = 50e-6
"""Latency that no small kernel passes, whatever its work: 20 µs in the files above."""

_FASTEST_RATIO: Final = 4.0
"""Caches give a few times the bandwidth of HBM, and a kernel may skip the masked half of the scores."""

_TIMER_SECONDS: Final = 1e-6

_SLOWEST_MESSAGE_RATIO: Final = 30.0
_MESSAGE_LATENCY_SECONDS: Final = 1e-3

_SMALLEST_RELIABLE_BYTES: Final = 2_000_000
"""Below it the all-reduce files are erratic: 25 to 60 µs with jumps."""


def judged(found: VidurReference, activity: ComponentActivity, system: SystemProfile | None) -> VidurReference:
    """`found`, flagged where it can't be the time of `activity` on `system`, noted where only a cache explains it."""
    seconds = found.seconds
    if found.state != "matched" or seconds is None:
        return found
    if activity.collective is not None:
        return _judged_collective(found, seconds, int(activity.message_bytes), system)
    if system is None:
        return found
    traffic = int(activity.read_bytes) + int(activity.write_bytes)
    engine = system.matrix if activity.unit == "matrix" else system.vector
    try:
        compute = float(compute_seconds(activity.operations, engine, DATATYPE, uses_curves=False))
    except UnsupportedError:
        return found
    memory = float(memory_seconds(traffic, system.memory, uses_curves=False))
    least = max(compute, memory)
    slowest = (
        _SLOWEST_RATIO if activity.component != "attention_core" else float(system.compute_units or _COMPUTE_UNITS)
    )
    if not least / _FASTEST_RATIO - _TIMER_SECONDS <= seconds <= slowest * least + _LAUNCH_SECONDS:
        return _flagged(found, seconds, _work(activity, traffic), least, system)
    if seconds + _TIMER_SECONDS < memory:
        rate = format_decimal(traffic / seconds, "B/s")
        return noted(found, f"{rate}, more than the HBM of {system.name} gives: read from a cache")
    return found


def _judged_collective(
    found: VidurReference, seconds: float, message_bytes: int, system: SystemProfile | None
) -> VidurReference:
    if message_bytes >= _SMALLEST_RELIABLE_BYTES:
        return found if system is None else _judged_message(found, seconds, message_bytes, system)
    least = f"{_SMALLEST_RELIABLE_BYTES / MEGA:g} MB"
    detail = f"messages below {least} were timed erratically, this one has {message_bytes:,} B"
    return replace(found, state="flagged", kind="unreliable", detail=detail)


def _judged_message(found: VidurReference, seconds: float, message_bytes: int, system: SystemProfile) -> VidurReference:
    rates = [tier.bandwidth_gb_per_s * GIGA for tier in system.network]
    least, most = message_bytes / max(rates), message_bytes / min(rates)
    if least / _FASTEST_RATIO <= seconds <= _SLOWEST_MESSAGE_RATIO * most + _MESSAGE_LATENCY_SECONDS:
        return found
    return _flagged(found, seconds, format_decimal(message_bytes, "B"), least, system)


def _flagged(
    found: VidurReference, seconds: float, work: str, least_seconds: float, system: SystemProfile
) -> VidurReference:
    what = f"{format_seconds(seconds)} for {work} is {three_digits(seconds / least_seconds)} times"
    detail = f"{what} what {system.name} needs at its peak; is the column in milliseconds?"
    return replace(found, state="flagged", kind="ruled out by physics", detail=detail)


def _work(activity: ComponentActivity, traffic_bytes: int) -> str:
    return format_decimal(traffic_bytes, "B") if activity.unit == "vector" else _operations(activity, traffic_bytes)


def _operations(activity: ComponentActivity, traffic_bytes: int) -> str:
    operations = format_decimal(int(activity.operations), "FLOP")
    return f"{operations} and {format_decimal(traffic_bytes, 'B')}"
