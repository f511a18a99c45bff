"""Results are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from blueprint_nb.errors import BlueprintError, OutputError
from blueprint_nb.files import whole_file, write_whole


def test_content_and_path_come_back(tmp_path: Path) -> None:
    path = tmp_path / "result"
    assert write_whole(str(path), b"new") == path
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def half_write(path: Path, fault: type[BaseException]) -> None:
    with whole_file(path) as file:
        file.write(b"half")
        raise fault


@pytest.mark.parametrize("fault", [KeyboardInterrupt, ValueError, OSError])
def test_what_breaks_off_leaves_the_old_file_and_no_other(tmp_path: Path, fault: type[BaseException]) -> None:
    path = tmp_path / "result"
    path.write_bytes(b"old")
    with pytest.raises((fault, OutputError)):
        half_write(path, fault)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_until_it_is_complete_the_old_file_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "result"
    path.write_bytes(b"old")
    with whole_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(os.name != "posix", reason="links and devices of POSIX")
def test_a_link_keeps_pointing_to_what_was_written(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.skipif(os.name != "posix", reason="links and devices of POSIX")
def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OutputError) as caught:
        write_whole(pipe, b"")
    assert str(caught.value) == f"{pipe} can't be written: it is not a regular file. Name a file."
    assert pipe.is_fifo()


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_others_may_read_it_as_far_as_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "result", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "result").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["no/result", "file/result", "x" * 300, "a\0b"])
def test_a_path_that_cannot_be_is_one_of_this_projects_errors(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(
        BlueprintError, match=r"can't be written: [a-z ]+\. (Name another file|Make the folder .* first)\."
    ):
        write_whole(tmp_path / name, b"")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
