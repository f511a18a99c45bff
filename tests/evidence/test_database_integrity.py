"""What was touched, lost or left behind in a database's folder is found when it is opened, or never read."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blueprint_nb._canonical import digest
from blueprint_nb.errors import IntegrityError
from blueprint_nb.evidence import PerformanceDatabase

from .observed import observed, refused, sha

RESTORE = "Restore the file, or delete the manifest and import its source again."


def test_two_parts_with_one_record_are_found_when_opening(tmp_path: Path, database: PerformanceDatabase) -> None:
    """As when two importers that read a file differently ran at the same time."""
    database.add(observed(2))
    other = PerformanceDatabase.create(tmp_path / "other").add(observed(1, seconds=2e-5))
    for path in [path for path in other.root.rglob("*") if path.is_file()]:
        path.rename(database.root / path.relative_to(other.root))
    one, two = sorted((database.root / "manifests").iterdir())
    assert refused(lambda: PerformanceDatabase(database.root)) == (
        f"{one} must share no record with {two.name}. Got attn_pre_proj of made.csv:2. Delete one of the two."
    )


def test_what_a_killed_import_leaves_is_not_read(database: PerformanceDatabase) -> None:
    filled = database.add(observed(2))
    orphan = PerformanceDatabase.create(database.root.parent / "other").add(observed(1, file_sha256=sha(1)))
    (part,) = (orphan.root / "parts").iterdir()
    part.rename(database.root / "parts" / part.name)
    for folder in ("parts", "manifests"):
        (database.root / folder / ".blueprint-nb-00000000.tmp").write_bytes(b"half of")
    assert PerformanceDatabase(database.root).observations.equals(filled.observations)
    assert len(filled.add(observed(1, file_sha256=sha(1))).observations) == 3


def test_an_import_that_cannot_write_its_manifest_is_not_there(
    database: PerformanceDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (database.root / "parts").rename(database.root / "away")
    assert refused(lambda: database.add(observed(2))).endswith(
        f"can't be written: no such file or directory. Make the folder {database.root}/parts first."
    )
    (database.root / "away").rename(database.root / "parts")
    monkeypatch.setattr(os, "fsync", full)
    assert refused(lambda: database.add(observed(2))).endswith(
        "can't be written: no space left on device. Name another file."
    )
    assert [path for path in database.root.rglob("*") if path.is_file()] == []


@example(place=0.189, bit=1)  # the format, in the manifest
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_anywhere_is_found_and_its_file_named(
    tmp_path_factory: pytest.TempPathFactory, place: float, bit: int
) -> None:
    root = tmp_path_factory.mktemp("flipped")
    filled = PerformanceDatabase.create(root).add(observed(20))
    for path in [path for path in sorted(root.rglob("*")) if path.is_file()]:
        whole = path.read_bytes()
        content = bytearray(whole)
        content[int(place * len(content))] ^= 1 << bit
        if path.suffix == ".json" and equal_json(bytes(content), whole):
            continue
        path.write_bytes(content)
        with pytest.raises(IntegrityError, match=path.name):
            PerformanceDatabase(root)
        path.write_bytes(whole)
    assert PerformanceDatabase(root).revision == filled.revision


def equal_json(one: bytes, other: bytes) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def test_a_part_that_was_changed_or_lost_after_opening_is_found_when_read(database: PerformanceDatabase) -> None:
    filled = database.add(observed(2))
    (part,) = (database.root / "parts").iterdir()
    part.write_bytes(part.read_bytes()[:-1])
    assert refused(filled.where).startswith(f"{part} does not match its digest. Got SHA-256 ")
    part.unlink()
    assert refused(filled.where) == f"{part} can't be read: no such file or directory. {RESTORE}"


@pytest.mark.parametrize("content", ["", "[]", "7", '{"manifest": {}}', '{"digest": [], "manifest": {}}', "\udcff"])
def test_a_manifest_that_is_none_is_named(database: PerformanceDatabase, content: str) -> None:
    path = database.root / "manifests" / f"{sha(1)}.json"
    path.write_bytes(content.encode(errors="surrogateescape"))
    assert refused(lambda: PerformanceDatabase(database.root)) in (
        f"{path} is no manifest of a part. {RESTORE}",
        f"{path} does not match its digest. {RESTORE}",
    )


def test_a_manifest_of_another_format_is_named(database: PerformanceDatabase) -> None:
    path = database.root / "manifests" / f"{sha(1)}.json"
    values = {"format": 2, "observations": sha(1)}
    path.write_text(json.dumps({"digest": digest(values), "manifest": values}))
    assert refused(lambda: PerformanceDatabase(database.root)) == (
        f"{path} is of format 2, and this version reads format 1. Use another version of blueprint-nb."
    )


def test_a_manifest_under_another_name_is_found(database: PerformanceDatabase) -> None:
    database.add(observed(2))
    (manifest,) = (database.root / "manifests").iterdir()
    renamed = manifest.rename(manifest.with_name(f"{sha(1)}.json"))
    assert refused(lambda: PerformanceDatabase(database.root)) == f"{renamed} does not match its digest. {RESTORE}"
