"""Runs a driver script where no network is: in a namespace of its own with nothing but a loopback.

Where the system has no namespaces, the driver still runs and its watch on requests has to do. It is a process of its
own either way, because Playwright leaves an event loop behind that other tests would trip over.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

_TIMEOUT_SECONDS = 420
"""A minute on two idle cores; a machine that others use too takes several times as long."""
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1


def run_offline(script: str, *arguments: str | Path) -> Any:
    """What the driver `script` of this folder prints as its last line, which is JSON."""
    path = Path(__file__).with_name(script)
    command = [*_isolation(), sys.executable, str(path), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS)
    if done.returncode:
        raise AssertionError(f"{script} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def is_isolated() -> bool:
    """Whether this process has no way out, after its loopback was switched on."""
    _switch_loopback_on()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return True
    return False


def can_isolate() -> bool:
    """Whether the system makes network namespaces for this user."""
    return bool(_isolation())


def _isolation() -> list[str]:
    for flags in (["-n"], ["-rn"]):
        with contextlib.suppress(OSError):
            if subprocess.run(["unshare", *flags, "true"], capture_output=True).returncode == 0:
                return ["unshare", *flags]
    return []


def _switch_loopback_on() -> None:
    with contextlib.suppress(ImportError, OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        import fcntl

        name = b"lo".ljust(16, b"\0")
        (flags,) = struct.unpack_from("H", fcntl.ioctl(control, _GET_FLAGS, name + bytes(16)), 16)
        fcntl.ioctl(control, _SET_FLAGS, name + struct.pack("H", flags | _UP) + bytes(14))
