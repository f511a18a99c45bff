"""Oracles stay shut while an estimate is made.

A measured reference that an estimate could read would make the comparison with it worthless. Lowering and costing
therefore run inside `oracles_shut`, in which every look-up is refused; an attempt that somebody caught and hid still
ends the estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ..errors import OracleError


@dataclass
class ReadCount:
    """How often one oracle was asked, by whomever: what a thread or a copied context asked for shows here too.

    Within `oracles_shut`: how often any was.
    """

    reads: int = 0


_WATCH: ContextVar[ReadCount | None] = ContextVar("oracle_watch", default=None)


@contextmanager
def oracles_shut() -> Iterator[ReadCount]:
    """Refuses every look-up within. Raises `OracleError` at its end if there was any attempt."""
    watch = ReadCount()
    token = _WATCH.set(watch)
    try:
        yield watch
    finally:
        _WATCH.reset(token)
    if watch.reads:
        raise _refusal()


def require_open_oracle(count: ReadCount | None = None) -> None:
    """Counts a read. Raises `OracleError` while an estimate is being made."""
    if count is not None:
        count.reads += 1
    watch = _WATCH.get()
    if watch is not None:
        watch.reads += 1
        raise _refusal()


def _refusal() -> OracleError:
    return OracleError(
        "oracle",
        rule="can't be read while an estimate is made",
        next_step="Measured references are compared with estimates that are finished.",
    )
