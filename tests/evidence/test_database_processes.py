"""Several imports at once lose nothing, and one that is killed leaves nothing half-visible."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from blueprint_nb.evidence import PerformanceDatabase

from .import_parts import ROWS, part

TESTS = Path(__file__).resolve().parents[1]


def importing(root: Path, first: int, count: int) -> subprocess.Popen[str]:
    """A process that has imported the first of its parts, and goes on once it gets a line."""
    command = [sys.executable, "-m", "evidence.import_parts", str(root), str(first), str(count)]
    process = subprocess.Popen(command, cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == f"{first}\n"
    return process


def start(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


def numbers(database: PerformanceDatabase) -> list[int]:
    """Which parts are in, each of them whole."""
    assert {part.rows for part in database.parts} <= {ROWS}
    frame = database.observations
    assert len(frame) == ROWS * len(database.parts)
    return sorted(int(part.file_sha256, 16) for part in database.parts)


def test_imports_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    PerformanceDatabase.create(tmp_path)
    # They share the parts 8 to 15.
    processes = [importing(tmp_path, 0, 16), importing(tmp_path, 8, 16)]
    start(*processes)
    for process in processes:
        process.communicate(timeout=120)
    assert [process.returncode for process in processes] == [0, 0]
    assert numbers(PerformanceDatabase(tmp_path)) == list(range(24))
    assert list(tmp_path.rglob("*.tmp")) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_import_leaves_nothing_half_visible(tmp_path: Path) -> None:
    PerformanceDatabase.create(tmp_path)
    random.seed(4)
    done: set[int] = set()
    for trial in range(4):
        process = importing(tmp_path, 1000 * trial, 1000)
        start(process)
        time.sleep(random.uniform(0, 0.1))
        process.kill()
        output, _ = process.communicate(timeout=60)
        assert process.returncode < 0
        done |= {1000 * trial, *map(int, output.split())}
        found = set(numbers(PerformanceDatabase(tmp_path)))
        # A part may be in though its process was killed before it could say so; none that was said is missing.
        assert done <= found
        assert len(found - done) <= trial + 1
    repeated = PerformanceDatabase(tmp_path).add(part(0))
    assert set(numbers(repeated)) == found
