"""Records of the project itself, in JSON: read whole, or refused with the file and what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from blueprint_nb.analysis.vidur import load_manifest
from blueprint_nb.analysis.vidur.slices import SliceFile, SliceManifest
from blueprint_nb.catalog import profiles_folder, read_record
from blueprint_nb.errors import BlueprintError, InvalidInputError, ProfileError

MANIFEST = profiles_folder() / "vidur" / "phi2_a100_tp1" / "manifest.json"
ENTRY = '{"path": "a.csv", "upstream_path": "up/a.csv", "upstream_blob": "56c1", "sha256": "3c1b"}'


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "entry.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_record_is_read_from_its_file(tmp_path: Path) -> None:
    entry = read_record(written(tmp_path, ENTRY), SliceFile)
    assert entry == SliceFile(path="a.csv", upstream_path="up/a.csv", upstream_blob="56c1", sha256="3c1b")
    assert read_record(MANIFEST, SliceManifest) == load_manifest()


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("", ProfileError, "{path} can't be read: expecting value: line 1 column 1 (char 0). Restore the file."),
        (ENTRY[:-1], ProfileError, "{path} can't be read: expecting ',' delimiter"),
        ("[]", ProfileError, "{path} can't be read: "),
        ("null", ProfileError, "{path} can't be read: "),
        (b"\x80\x81", ProfileError, "{path} can't be read: 'utf-8' codec can't decode byte 0x80"),
        ("[" * 100_000, ProfileError, "{path} can't be read: "),
        (ENTRY.replace("sha256", "sha265"), InvalidInputError, "entry.json.sha265 is not a known field. Got '3c1b'."),
        ("{}", InvalidInputError, "entry.json.path is required. Got nothing. Give path."),
    ],
    ids=["empty", "cut", "a list", "null", "no text", "nested", "another field", "no field"],
)
def test_a_record_that_can_not_be_read_names_its_file(
    tmp_path: Path, text: str | bytes, kind: type[BlueprintError], message: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(kind) as caught:
        read_record(path, SliceFile)
    assert str(caught.value).startswith(message.format(path=path))


def test_a_record_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "absent.json"
    with pytest.raises(ProfileError) as caught:
        read_record(path, SliceFile)
    assert str(caught.value) == f"{path} can't be read: no such file or directory. Restore the file."


def test_a_manifest_that_is_nested_too_deep_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "vidur" / "phi2_a100_tp1" / "manifest.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"files":' * 100_000)
    monkeypatch.setattr("blueprint_nb.analysis.vidur.slices.profiles_folder", lambda: tmp_path)
    with pytest.raises(ProfileError, match="can't be read: "):
        load_manifest()
