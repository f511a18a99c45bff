"""One run a gesture: calls that follow each other quickly become one, after the last of them.

Waits on the kernel's own event loop, so that nothing runs in another thread. Where no loop runs (a plain script, a
test), there is nothing to wait on, and the action runs at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

WAIT_SECONDS = 0.12


class Debounce:
    """Runs `action` once, `wait_seconds` after the last call."""

    def __init__(self, action: Callable[[], None], wait_seconds: float = WAIT_SECONDS) -> None:
        self._action = action
        self._wait_seconds = wait_seconds
        self._handle: asyncio.TimerHandle | None = None

    def __call__(self) -> None:
        """Asks for a run; one that waits already starts to wait anew."""
        self.cancel()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._action()
        else:
            self._handle = loop.call_later(self._wait_seconds, self._run)

    def cancel(self) -> None:
        """Forgets a run that waits."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _run(self) -> None:
        self._handle = None
        self._action()
