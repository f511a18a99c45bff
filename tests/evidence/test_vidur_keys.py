"""Key cells: what is read as an integer, a flag or a backend, and how a file with any other is refused."""

from __future__ import annotations

import pytest

from .conftest import Profile, collective

NEXT = "Mend the cell, or leave the line out."
COUNT = "must be an integer from 1 to 1,000,000,000,000"
INDEX = "must be an integer from 0 to 1,000,000,000,000"


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1", 1), ("128.0", 128), ("128.", 128), ("1e3", 1000), ("1.5E1", 15), ("+7", 7), ("007", 7), ("  64\t", 64),
        ("1000000000000", 10**12), ("1e12", 10**12), ("999999999999.0", 10**12 - 1),
    ],
)  # fmt: skip
def test_integers_are_read_however_they_are_written(profile: Profile, cell: str, number: int) -> None:
    assert profile.read(collective(size=cell)).keys["size"].tolist() == [number]


@pytest.mark.parametrize(
    "cell",
    [
        "0", "-1", "12.5", "", " ", "many", "nan", "NaN", "inf", "-inf", "1e400", "1000000000001", "1e13", "1e12.0",
        "9007199254740993.0", "12.00000000000000000001", "999999999999.99999 ", "99999999999999999999", "0x10", "1_000", "1 000", "1;2", "True", "None", "１２", "128 tokens",
    ],
)  # fmt: skip
def test_what_is_no_count_is_refused_with_its_place(profile: Profile, cell: str) -> None:
    text = collective() + collective(size=cell).splitlines()[1]
    assert profile.refusal(text) == f"{profile.path}, line 3, column size {COUNT}. Got {cell!r}. {NEXT}"


@pytest.mark.parametrize(("cell", "number"), [("0", 0), ("0.0", 0), ("-0.0", 0), ("4095", 4095)])
def test_an_index_starts_at_zero(profile: Profile, cell: str, number: int) -> None:
    assert profile.read(f"kv_cache_size,x\n{cell},\n", "attention").keys["kv_cache_size"].tolist() == [number]


@pytest.mark.parametrize("cell", ["-1", "0.5", "", "zero", "1e13"])
def test_what_is_no_index_is_refused_with_its_place(profile: Profile, cell: str) -> None:
    assert profile.refusal(f"kv_cache_size,x\n{cell},\n", "attention") == (
        f"{profile.path}, line 2, column kv_cache_size {INDEX}. Got {cell!r}. {NEXT}"
    )


def test_flags_are_read_in_any_case_and_as_numbers(profile: Profile) -> None:
    cells = ["True", "False", "TRUE", "false", "1", "0", "1.0", "0.0", " true "]
    table = profile.read("use_gated_mlp,x\n" + "".join(f"{cell},\n" for cell in cells), "compute")
    assert table.keys["use_gated_mlp"].tolist() == [1, 0, 1, 0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("cell", ["", "2", "yes", "T", "nan", "-1", "0.5"])
def test_what_is_no_flag_is_refused_with_its_place(profile: Profile, cell: str) -> None:
    assert profile.refusal(f"use_gated_mlp,x\n{cell},\n", "compute") == (
        f"{profile.path}, line 2, column use_gated_mlp must be true or false. Got {cell!r}. {NEXT}"
    )


def test_a_backend_is_kept_without_the_name_of_its_enum(profile: Profile) -> None:
    cells = ["AttentionBackend.FLASH_ATTENTION", "FLASHINFER", " a.b.C "]
    table = profile.read("attention_backend,x\n" + "".join(f"{cell},\n" for cell in cells), "attention")
    assert table.keys["attention_backend"].tolist() == ["FLASH_ATTENTION", "FLASHINFER", "C"]
    assert table.keys["attention_backend"].dtype == object
    assert not table.keys["attention_backend"].flags.writeable


@pytest.mark.parametrize("cell", ["", "  ", "AttentionBackend."])
def test_an_empty_backend_is_refused_with_its_place(profile: Profile, cell: str) -> None:
    assert profile.refusal(f"attention_backend,x\n{cell},\n", "attention") == (
        f"{profile.path}, line 2, column attention_backend must be the name of an attention backend. "
        f"Got {cell!r}. {NEXT}"
    )


def test_a_header_that_comes_again_is_refused_with_its_line(profile: Profile) -> None:
    assert profile.refusal(collective() + collective()) == (
        f"{profile.path}, line 3, column size {COUNT}. Got 'size'. {NEXT}"
    )


def test_the_line_is_right_behind_blank_lines_and_quoted_line_ends(profile: Profile) -> None:
    assert profile.refusal("size,x\n\n1,\n\n\n0,\n").startswith(f"{profile.path}, line 6, column size ")
    assert profile.refusal('size,x\n\n1,"\n"\n\n0,\n').startswith(f"{profile.path}, line 6, column size ")


def test_a_long_cell_is_cut(profile: Profile) -> None:
    assert len(profile.refusal(collective(size="9" * 10**6))) < 400 + len(str(profile.path))
