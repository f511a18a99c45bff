"""Profiles as files: names that are not known, keys that are not known, and files that can't be read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from blueprint_nb.catalog import load_model, load_system, profiles_folder
from blueprint_nb.errors import InvalidInputError, ProfileError, UnknownNameError, UnsupportedError

PHI = profiles_folder() / "models" / "phi-2.toml"
A100 = profiles_folder() / "systems" / "a100_80g.toml"


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "mine.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def message_of(kind: type[Exception], load: Any, given: object) -> str:
    with pytest.raises(kind) as caught:
        load(given)
    return str(caught.value)


def test_a_profile_is_loaded_from_a_path_as_from_its_name() -> None:
    assert load_model(PHI) == load_model(str(PHI)) == load_model("phi-2")
    assert load_system(A100) == load_system(str(A100)) == load_system("a100_80g")


def test_a_loaded_profile_is_handed_back_as_it_is() -> None:
    model, system = load_model("phi-2"), load_system("a100_80g")
    assert load_model(model) is model
    assert load_system(system) is system


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, PHI.read_text())
    assert load_model(path).block_count == 32
    path.write_text(PHI.read_text().replace("block_count = 32", "block_count = 64"))
    os.utime(path, ns=(1, 1))
    assert load_model(path).block_count == 64


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    assert load_model(written(tmp_path, b"\xef\xbb\xbf" + PHI.read_bytes())).name == "phi-2"


def test_an_unknown_model_suggests_the_nearest() -> None:
    assert message_of(UnknownNameError, load_model, "llama-2-7") == (
        "model must be one of 16 known names. Got 'llama-2-7'. Did you mean llama-2-7b or llama-2-70b?"
    )


def test_an_unknown_system_suggests_the_nearest() -> None:
    assert message_of(UnknownNameError, load_system, "A100-80g") == (
        "system must be one of 10 known names. Got 'A100-80g'. Did you mean a100_80g, a100_80g_sxm or a100_80g_pcie?"
    )


def test_a_name_like_no_other_says_where_all_are_listed() -> None:
    assert message_of(UnknownNameError, load_model, "xyz") == (
        "model must be one of 16 known names. Got 'xyz'. See `blueprint-nb show models`."
    )


@pytest.mark.parametrize("given", [None, 7, b"phi-2", ["phi-2"]])
def test_what_is_neither_name_nor_path_is_refused(given: object) -> None:
    assert message_of(InvalidInputError, load_model, given) == (
        f"model must be a profile's name or the path of a TOML file. Got {given!r}."
    )


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "absent.toml"
    assert message_of(ProfileError, load_model, path) == (
        f"{path} can't be read: no such file or directory. Check the path."
    )


def test_a_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "folder.toml"
    path.mkdir()
    assert message_of(ProfileError, load_system, path) == f"{path} can't be read: it is a folder. Check the path."


def test_a_path_with_a_null_byte_is_refused() -> None:
    with pytest.raises(ProfileError, match=r"can't be read: .*null"):
        load_model("a\0b.toml")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, PHI.read_text())
    path.chmod(0)
    assert message_of(ProfileError, load_model, path) == (f"{path} can't be read: permission denied. Check the path.")


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    text = A100.read_text()
    path = written(tmp_path, text[: text.index("fraction = 0.90") + 3])
    message = message_of(ProfileError, load_system, path)
    assert message.startswith(f"{path} is not valid TOML: ")
    assert message.endswith(". Mend or restore the file.")


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x81\xff\x00",
        b"name = 'a'\nname = 'b'\n",
        b"<html></html>",
        b'{"name": "json"}',
        b"hidden_size = " + b"9" * 5000,
    ],
    ids=["binary", "a key twice", "HTML", "JSON", "an endless number"],
)
def test_a_file_that_is_not_toml_is_refused(tmp_path: Path, data: bytes) -> None:
    path = written(tmp_path, data)
    assert message_of(ProfileError, load_model, path).startswith(f"{path} is not valid TOML: ")


def test_an_empty_file_names_the_first_field_it_lacks(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    assert message_of(InvalidInputError, load_model, path) == ("mine.toml.name is required. Got nothing. Give name.")


def test_a_file_cut_between_two_lines_names_the_field_it_lacks(tmp_path: Path) -> None:
    path = written(tmp_path, A100.read_text().split("[[network]]")[0])
    assert message_of(InvalidInputError, load_system, path) == (
        "mine.toml.network is required. Got nothing. Give network."
    )


def test_an_unknown_key_of_a_system_names_the_nearest(tmp_path: Path) -> None:
    path = written(tmp_path, A100.read_text().replace("capacity_gib = 80", "capacity_gb = 80\ncapacity_gib = 80"))
    assert message_of(InvalidInputError, load_system, path) == (
        "mine.toml.memory.capacity_gb is not a known field. Got 80. Did you mean capacity_gib? "
        "Known fields: bandwidth_gb_per_s, capacity_gib, efficiency, usable_fraction."
    )


@pytest.mark.parametrize("key", ["heads", "self", "hidden size"])
def test_an_unknown_key_of_a_model_is_refused(tmp_path: Path, key: str) -> None:
    path = written(tmp_path, f'"{key}" = 1\n' + PHI.read_text())
    assert message_of(InvalidInputError, load_model, path).startswith(f"mine.toml.{key} is not a known field. Got 1. ")


def test_a_value_out_of_range_names_the_file_and_the_path(tmp_path: Path) -> None:
    path = written(tmp_path, A100.read_text().replace("capacity_gib = 80", "capacity_gib = 80_000_000_000"))
    assert message_of(InvalidInputError, load_system, path) == (
        "mine.toml.memory.capacity_gib must be at most 65,536. Got 80000000000."
    )


def test_a_model_of_experts_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = written(tmp_path, "num_local_experts = 8\n" + PHI.read_text())
    assert message_of(UnsupportedError, load_model, path) == (
        "mine.toml.num_local_experts can't be said: all tokens go through one MLP here, "
        "not through routed experts. "
        "Got 8. Leave this model out."
    )


def test_a_system_is_not_taken_for_a_model() -> None:
    with pytest.raises(InvalidInputError, match=r"^a100_80g\.toml\."):
        load_model(A100)
