"""The performance database: what goes in comes out, once, whatever the order; and what was touched is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.evidence import PerformanceDatabase
from blueprint_nb.evidence.content import content_digest

from .observed import SHAPES, observed, refused, sha


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
        f"{tmp_path} holds no performance database. Make one with PerformanceDatabase.create. "
        "Profiles of Vidur are no database: read them with "
        'VidurProfileImporter(source_revision="…").read_folder(folder).observations of blueprint_nb.evidence.vidur.'
    )
    assert " holds no performance database. " in refused(lambda: PerformanceDatabase("x" * 5000))
    assert refused(lambda: PerformanceDatabase(7)) == "root must be the path of a folder. Got 7."  # type: ignore[arg-type]
    assert refused(lambda: PerformanceDatabase.create(file)) == (
        f"{file} can't be made: not a directory. Name another folder."
    )


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
COUNT = st.integers(1, 10**12)
POSITIVE = st.floats(1e-15, 1e9)


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
