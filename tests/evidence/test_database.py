"""The performance database: what goes in comes out, once, whatever the order; and what was touched is found."""

from __future__ import annotations

import errno
import json
import os
import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.errors import BlueprintError, IntegrityError
from blueprint_nb.evidence import PerformanceDatabase
from blueprint_nb.evidence.content import content_digest

from .observed import SHAPES, observed


def sha(number: int) -> str:
    return f"{number:064x}"


@pytest.fixture
def database(tmp_path: Path) -> PerformanceDatabase:
    return PerformanceDatabase.create(tmp_path / "evidence")


def refused(call: Any) -> str:
    with pytest.raises(BlueprintError) as caught:
        call()
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    return str(caught.value)


def test_what_goes_in_comes_out(database: PerformanceDatabase) -> None:
    frame = pl.concat([observed(3), observed(2, family="rope", component="attn_rope")])
    filled = database.add(frame)
    assert filled.observations.equals(frame)
    assert PerformanceDatabase(database.root).observations.equals(frame)
    assert len(database.observations) == 0


def test_a_file_imported_twice_changes_nothing(database: PerformanceDatabase) -> None:
    once = database.add(observed(3))
    files = sorted((path, path.stat().st_mtime_ns) for path in database.root.rglob("*") if path.is_file())
    twice = once.add(observed(3))
    assert twice.revision == once.revision != database.revision
    assert sorted((path, path.stat().st_mtime_ns) for path in database.root.rglob("*") if path.is_file()) == files


def test_files_imported_together_or_apart_are_the_same_parts(tmp_path: Path) -> None:
    one, other = observed(3, file_sha256=sha(1)), observed(2, file_sha256=sha(2))
    together = PerformanceDatabase.create(tmp_path / "together").add(pl.concat([one, other]))
    apart = PerformanceDatabase.create(tmp_path / "apart").add(other).add(one).add(pl.concat([other, one]))
    assert together.revision == apart.revision
    assert together.parts == apart.parts
    assert len(apart.observations) == 5


def test_the_revision_is_of_the_rows_and_survives_another_way_of_storing_them(database: PerformanceDatabase) -> None:
    assert content_digest(observed(2)) == "68ab29efb1d155c223f1890a5b60213ef52ecc2858208929bae98ca782f4430d"
    assert database.add(observed(2)).revision == "40be7a9b81981520019e5e8cf7a953e0d3672ca46dc36c1095b90eff53300775"


@pytest.mark.parametrize(
    "changed",
    [
        observed(2, seconds=[1e-5, 2e-5]),
        observed(2, spread_seconds=[None, 0.0]),
        observed(2, kernel=["a", ""]),
        observed(2, kernel=["", "a"]),
        observed(2, tensor_parallel=[1, None]),
        observed(2, tensor_parallel=[None, 1]),
        observed(1),
    ],
)
def test_every_difference_is_another_digest(changed: pl.DataFrame) -> None:
    assert content_digest(changed) != content_digest(observed(2))


def test_filters_take_one_value_or_several_and_null(database: PerformanceDatabase) -> None:
    frames = [
        observed(3, m=[1, 2, 3], file_sha256=sha(1)),
        observed(2, family="all_reduce", devices_per_node=[8, None], target="a100_dgx", file_sha256=sha(2)),
        observed(1, family="host", datatype="", file_sha256=sha(3)),
    ]
    filled = database.add(pl.concat(frames))
    assert filled.where(m=2).equals(frames[0][1:2])
    assert filled.where(family="gemm", m=[3, 1]).equals(frames[0][[0, 2]])
    assert len(filled.where(family=("gemm", "host"))) == 4
    assert len(filled.where(target="a100_dgx", devices_per_node=None)) == 1
    assert len(filled.where(family="all_reduce", devices_per_node=[None, 8])) == 2
    assert len(filled.where(m=None)) == 3
    assert len(filled.where(target=[])) == len(filled.where(target="h100")) == 0


def test_parts_say_whose_they_are(database: PerformanceDatabase) -> None:
    (part,) = database.add(pl.concat([observed(3), observed(2, family="rope", component="attn_rope")])).parts
    assert (part.rows, part.families, part.target, part.licence) == (5, ("gemm", "rope"), "a100", "MIT")
    assert (part.source, part.source_revision, part.file_sha256) == ("vidur", "made for a test", "0" * 64)


def test_different_rows_of_one_file_may_come_one_after_the_other(database: PerformanceDatabase) -> None:
    filled = database.add(observed(3)).add(observed(2, family="rope", component="attn_rope"))
    assert len(filled.observations) == 5
    assert len(filled.parts) == 2


def test_the_same_row_may_not_come_twice(database: PerformanceDatabase) -> None:
    assert refused(lambda: database.add(pl.concat([observed(2), observed(1)]))) == (
        "observations must hold each record once. Got attn_pre_proj of made.csv:2 twice. Import each file once."
    )
    filled = database.add(observed(2))
    manifest = next((database.root / "manifests").iterdir())
    assert refused(lambda: database.add(observed(2, seconds=[1e-5, 2e-5]))) == (
        "observations must hold no record that the database has with other values. "
        f"Got attn_pre_proj of made.csv:2. To replace what it has, delete {manifest} first."
    )
    assert PerformanceDatabase(database.root).revision == filled.revision
    manifest.unlink()
    assert database.add(observed(2, seconds=[1e-5, 2e-5])).observations["seconds"].to_list() == [1e-5, 2e-5]


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


def test_what_is_no_observation_table_is_refused_and_nothing_written(database: PerformanceDatabase) -> None:
    good, bad = observed(2, file_sha256=sha(1)), observed(2, file_sha256=sha(2), seconds=[1.0, -1.0])
    assert refused(lambda: database.add(pl.concat([good, bad]))) == (
        "observations, row 3, column seconds must be a positive number. Got -1.0."
    )
    assert [path for path in database.root.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"famly": "gemm"}, "column must be one of 33 known names. Got 'famly'. Did you mean family or samples?"),
        ({"m": "many"}, "m must be Int64, or a collection of it. Got 'many'."),
        ({"family": [1]}, "family must be String, or a collection of it. Got [1]."),
    ],
)
def test_a_filter_that_can_match_nothing_is_refused(
    database: PerformanceDatabase, wanted: dict[str, Any], message: str
) -> None:
    assert refused(lambda: database.where(**wanted)) == message


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert refused(lambda: PerformanceDatabase(tmp_path)) == (
        f"{tmp_path} holds no performance database. Make one with PerformanceDatabase.create."
    )
    assert refused(lambda: PerformanceDatabase(7)) == "root must be the path of a folder. Got 7."  # type: ignore[arg-type]
    assert refused(lambda: PerformanceDatabase.create(file)) == (
        f"{file} can't be made: not a directory. Name another folder."
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


RESTORE = "Restore the file, or delete the manifest and import its source again."


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", " is no manifest of a part."),
        ("[]", " is no manifest of a part."),
        ('{"digest": "", "manifest": {"format": 1}}', ", observations is required. Got nothing."),
        ('{"digest": "", "manifest": {"format": 2}}', " is of format 2, and this version reads format 1. Use a newer version of blueprint-nb."),
    ],
)  # fmt: skip
def test_a_manifest_that_is_none_is_named(database: PerformanceDatabase, content: str, message: str) -> None:
    path = database.root / "manifests" / f"{sha(1)}.json"
    path.write_text(content)
    assert refused(lambda: PerformanceDatabase(database.root)) in (f"{path}{message}", f"{path}{message} {RESTORE}")


def test_a_manifest_under_another_name_is_found(database: PerformanceDatabase) -> None:
    database.add(observed(2))
    (manifest,) = (database.root / "manifests").iterdir()
    renamed = manifest.rename(manifest.with_name(f"{sha(1)}.json"))
    assert refused(lambda: PerformanceDatabase(database.root)) == f"{renamed} does not match its digest. {RESTORE}"


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
COUNT = st.integers(1, 10**12)
POSITIVE = st.floats(1e-300, 1e300)


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """Rows of one family whose texts, times and counts are anything they may be."""
    count = draw(st.integers(0, 6))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=count, max_size=count))

    return observed(
        count,
        family=draw(st.sampled_from(sorted(SHAPES))),
        target=draw(TEXT.filter(bool)),
        kernel=column(TEXT),
        model=column(TEXT),
        seconds=column(POSITIVE),
        spread_seconds=column(st.none() | st.just(-0.0) | POSITIVE),
        samples=column(COUNT),
        tensor_parallel=column(st.none() | COUNT),
        file_sha256=column(st.integers(0, 1).map(sha)),
    )


@given(frame=tables())
def test_any_observations_come_out_as_they_went_in(
    tmp_path_factory: pytest.TempPathFactory, frame: pl.DataFrame
) -> None:
    empty = PerformanceDatabase.create(tmp_path_factory.mktemp("round-trip"))
    filled = empty.add(frame)
    assert filled.observations.sort(pl.all()).equals(frame.sort(pl.all()))
    assert sum(part.rows for part in filled.parts) == len(frame)
    assert filled.add(frame).revision == filled.revision == PerformanceDatabase(empty.root).revision
    for kernel in set(frame["kernel"]):
        assert len(filled.where(kernel=kernel)) == (frame["kernel"] == kernel).sum()
