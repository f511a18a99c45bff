"""A profile to read: `profile.read(text)` gives the table, `profile.refusal(text)` the message of the refusal.

And an empty performance database.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from blueprint_nb.errors import ProfileError
from blueprint_nb.evidence import PerformanceDatabase
from blueprint_nb.evidence.vidur import ProfileTable, read_profile

COLLECTIVE = "size,num_workers,devices_per_node,time_stats.all_reduce.median"


@dataclass(frozen=True)
class Profile:
    """A file that a test writes and reads."""

    path: Path

    def write(self, content: str | bytes) -> Path:
        self.path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self.path

    def read(self, content: str | bytes, kind: str = "all_reduce") -> ProfileTable:
        return read_profile(self.write(content), kind)

    def refusal(self, content: str | bytes, kind: str = "all_reduce") -> str:
        self.write(content)
        return refusal(self.path, kind)


def refusal(path: object, kind: str = "all_reduce") -> str:
    with pytest.raises(ProfileError) as caught:
        read_profile(path, kind)  # type: ignore[arg-type]
    return str(caught.value)


def csv_of(columns: dict[str, list[str]]) -> str:
    """The columns as lines of text, without any quoting."""
    return "\n".join(",".join(cells) for cells in [list(columns), *zip(*columns.values(), strict=True)]) + "\n"


def collective(**changed: str) -> str:
    """An all-reduce profile of one row, on line 2, with the cells that are `changed`."""
    cells = {"size": "2048", "num_workers": "2", "devices_per_node": "1", "time": "0.05"} | changed
    return f"{COLLECTIVE}\n{','.join(cells.values())}\n"


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    return Profile(tmp_path / "profile.csv")


@pytest.fixture(scope="module")
def shared_profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    """For properties, whose examples overwrite one file."""
    return Profile(tmp_path_factory.mktemp("profiles") / "profile.csv")


@pytest.fixture
def database(tmp_path: Path) -> PerformanceDatabase:
    """An empty one."""
    return PerformanceDatabase.create(tmp_path / "evidence")
