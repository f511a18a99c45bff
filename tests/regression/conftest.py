"""No test of a gate changes a profile: it would hide the drift that it is to find."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from blueprint_nb.catalog import profiles_folder


@pytest.fixture(autouse=True)
def _writes_nothing() -> Iterator[None]:
    before = profile_files()
    yield
    assert profile_files() == before


def profile_files() -> dict[Path, tuple[bytes, int]]:
    files = [path for path in profiles_folder().rglob("*") if path.is_file()]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
