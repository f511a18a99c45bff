"""Results are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from blueprint_nb.errors import BlueprintError, InvalidInputError, OutputError
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


@pytest.mark.parametrize("path", [5, None, ["result"], b"result"])
def test_what_is_no_path_is_refused_by_name(path: object) -> None:
    with pytest.raises(InvalidInputError) as caught:
        write_whole(path, b"")
    assert str(caught.value) == f"path must be a path as text. Got {path!r}."


@pytest.mark.parametrize("path", ["new/", "new/.", "old/"])
def test_what_ends_as_a_folder_does_is_not_written_as_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old").write_bytes(b"old")
    with pytest.raises(OutputError) as caught:
        write_whole(path, b"new")
    assert str(caught.value) == f"{path} can't be written: it names a folder. Name a file."
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("old", b"old")]


def test_an_empty_path_is_said_to_name_nothing() -> None:
    with pytest.raises(OutputError) as caught:
        write_whole("", b"")
    assert str(caught.value) == "'' can't be written: it names no file. Name a file."


@pytest.mark.parametrize("name", ["x" * 255, "漢" * 83 + ".html"])
def test_the_longest_names_can_be_written(tmp_path: Path, name: str) -> None:
    assert write_whole(tmp_path / name, b"new").read_bytes() == b"new"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("permissions", [0o600, 0o664])
def test_a_file_keeps_its_permissions(tmp_path: Path, permissions: int) -> None:
    path = tmp_path / "result"
    path.write_bytes(b"old")
    path.chmod(permissions)
    with whole_file(path) as file:
        file.write(b"new")
        assert {part.stat().st_mode & 0o777 for part in tmp_path.iterdir()} == {permissions}
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == permissions


def test_a_file_that_is_read_only_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result"
    path.write_bytes(b"old")
    # The superuser may write all files, and may be who runs the tests.
    monkeypatch.setattr(os, "access", lambda file, kind: kind != os.W_OK)
    with pytest.raises(OutputError) as caught:
        write_whole(path, b"new")
    assert str(caught.value) == f"{path} can't be written: it is read-only. Name another file."
    assert path.read_bytes() == b"old"
