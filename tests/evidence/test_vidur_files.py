"""Profile files in the wild: which are read, which are refused, and what the refusal says."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from blueprint_nb.errors import InvalidInputError, ProfileError, UnknownNameError
from blueprint_nb.evidence.vidur import KINDS, read_profile

from .conftest import COLLECTIVE, Profile, collective, refusal

MEND = "Mend or restore the file."
AS_CSV = "Save it as CSV, in UTF-8."
ROW = "2048,2,1,0.05"


def test_a_file_is_read_as_it_stands(profile: Profile) -> None:
    text = f"{COLLECTIVE}\n2048,2,1,0.05\n4096,4,8,0.5\n"
    table = profile.read(text)
    assert len(table) == 2
    assert table.kind is KINDS["all_reduce"]
    assert table.file == str(profile.path)
    assert table.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert table.columns == tuple(COLLECTIVE.split(","))
    assert {name: values.tolist() for name, values in table.keys.items()} == {
        "size": [2048, 4096], "num_workers": [2, 4], "devices_per_node": [1, 8],
    }  # fmt: skip
    assert table.milliseconds["all_reduce"].tolist() == [0.05, 0.5]
    assert table.faults == {"all_reduce": {}}
    assert table.lines.tolist() == [2, 3]


def test_the_path_may_be_text_or_a_path_object(profile: Profile) -> None:
    path = profile.write(collective())
    assert read_profile(str(path), "all_reduce").sha256 == read_profile(path, "all_reduce").sha256


def test_arrays_are_typed_and_read_only(profile: Profile) -> None:
    table = profile.read(collective())
    arrays = [*table.keys.values(), table.lines, *table.milliseconds.values()]
    assert [array.dtype for array in arrays] == [np.int64] * 4 + [np.float64]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_table_can_be_pickled(profile: Profile) -> None:
    table = profile.read(collective(time="0"))
    assert pickle.loads(pickle.dumps(table)).faults == table.faults


@pytest.mark.parametrize(
    "text",
    [
        f"\N{BYTE ORDER MARK}{COLLECTIVE}\n{ROW}\n",
        f"{COLLECTIVE}\r\n{ROW}\r\n",
        f"{COLLECTIVE}\r{ROW}\r",
        f"{COLLECTIVE}\n{ROW}",
        f"{COLLECTIVE}\n{ROW}\n\n  \n\t\n",
        f"{COLLECTIVE.replace(',', ' , ')}\n{ROW.replace(',', ' , ')}\n",
        '"size","num_workers","devices_per_node","time_stats.all_reduce.median"\n"2048","2","1","0.05"\n',
        f"{COLLECTIVE},note\n{ROW},\"commas, and 'quotes'\"\n",
        f"{COLLECTIVE},measured µs\n{ROW},ja\n",
    ],
    ids=["BOM", "CRLF", "CR", "no last line end", "blank at the end", "spaces", "quotes", "needed quotes", "not ASCII"],
)
def test_harmless_differences_do_no_harm(profile: Profile, text: str) -> None:
    table = profile.read(text)
    assert {name: values.tolist() for name, values in table.keys.items()} == {
        "size": [2048], "num_workers": [2], "devices_per_node": [1],
    }  # fmt: skip
    assert table.milliseconds["all_reduce"].tolist() == [0.05]
    assert table.lines.tolist() == [2]
    assert table.faults == {"all_reduce": {}}


def test_an_index_column_without_a_name_and_further_columns_are_listed_and_left_alone(profile: Profile) -> None:
    text = f",{COLLECTIVE},rank,collective,,\n0,{ROW},zero,all_reduce,,\n1,{ROW},,\N{SNOWMAN},,x\n"
    table = profile.read(text)
    assert table.columns == ("", *COLLECTIVE.split(","), "rank", "collective", "", "")
    assert list(table.keys) == ["size", "num_workers", "devices_per_node"]
    assert table.milliseconds["all_reduce"].tolist() == [0.05, 0.05]


def test_columns_that_a_file_lacks_are_absent(profile: Profile) -> None:
    table = profile.read("num_tokens,time_stats.emb.median\n1,0.5\n", "compute")
    assert list(table.keys) == ["num_tokens"]
    assert list(table.milliseconds) == list(table.faults) == ["emb"]


def test_a_shell_of_keys_alone_is_read(profile: Profile) -> None:
    table = profile.read("size,num_workers,devices_per_node\n2048,2,1\n")
    assert len(table) == 1
    assert table.milliseconds == table.faults == {}


def test_a_file_of_one_column_is_read(profile: Profile) -> None:
    assert profile.read("size\n1\n\n2\n").lines.tolist() == [2, 4]


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_header_alone_is_a_table_without_rows(profile: Profile, quote: str, end: str) -> None:
    names = ("num_tokens", "use_gated_mlp", "time_stats.emb.median", "time_stats.add.median", "a,b" if quote else "a")
    table = profile.read(",".join(f"{quote}{name}{quote}" for name in names) + end, "compute")
    assert table.columns == names
    assert [len(table), *map(len, [*table.keys.values(), *table.milliseconds.values()])] == [0] * 5


def test_an_attention_file_without_rows_is_read(profile: Profile) -> None:
    names = "attention_backend,is_prefill,time_stats.attn_prefill.median,time_stats.attn_kv_cache_save_decode.median"
    table = profile.read(names, "attention")
    assert list(table.milliseconds) == ["attn_kv_cache_save", "attn_prefill"]
    assert len(table) == 0


def test_lines_are_counted_as_an_editor_counts_them(profile: Profile) -> None:
    table = profile.read(f"\n\n{COLLECTIVE}\n\n{ROW}\n   \n\n{ROW}\n{ROW}\n\n")
    assert table.lines.tolist() == [5, 8, 9]
    assert table.keys["size"].tolist() == [2048] * 3


def test_line_ends_within_quotes_count_as_lines(profile: Profile) -> None:
    table = profile.read(f'{COLLECTIVE},"no\nte"\n{ROW},"1\n2\r\n3"\n\n{ROW},""\n{ROW},"a ""b"", c"\n')
    assert table.columns[-1] == "no\nte"
    assert table.lines.tolist() == [3, 7, 8]


# Files that are none.


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", b" \r\n\t\r\n"])
def test_an_empty_file_is_refused(profile: Profile, content: bytes) -> None:
    assert profile.refusal(content) == f"{profile.path} is empty. Restore the file."


def test_a_missing_file_is_refused(profile: Profile) -> None:
    assert refusal(profile.path) == f"{profile.path} can't be read: no such file or directory. Check the path."


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path} can't be read: it is a folder. Check the path."


def test_a_pipe_is_refused_rather_than_waited_for(profile: Profile) -> None:
    os.mkfifo(profile.path)
    assert refusal(profile.path) == (
        f"{profile.path} can't be read: it is not a regular file of at most 2,000,000,000 bytes. Check the path."
    )


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_an_endless_device_is_refused() -> None:
    assert refusal("/dev/zero") == (
        "/dev/zero can't be read: it is not a regular file of at most 2,000,000,000 bytes. Check the path."
    )


def test_a_file_larger_than_any_profile_is_refused_before_it_is_read(profile: Profile) -> None:
    with profile.path.open("wb") as file:
        file.truncate(2 * 10**9 + 1)
    assert refusal(profile.path) == (
        f"{profile.path} can't be read: it is not a regular file of at most 2,000,000,000 bytes. Check the path."
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_without_permission_is_refused(profile: Profile) -> None:
    profile.write(collective()).chmod(0)
    assert refusal(profile.path) == f"{profile.path} can't be read: permission denied. Check the path."


def test_a_path_with_a_null_byte_is_refused() -> None:
    assert refusal("a\0b.csv").startswith("a\0b.csv can't be read: embedded null ")


def test_an_empty_path_is_refused() -> None:
    assert refusal("") == "'' can't be read: it names no file. Check the path."


@pytest.mark.parametrize("given", [None, 7, b"profile.csv", ["profile.csv"]])
def test_what_is_no_path_is_refused(given: object) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_profile(given, "compute")  # type: ignore[arg-type]
    assert str(caught.value) == f"path must be a path as text. Got {given!r}."


@pytest.mark.parametrize("given", ["mlp", "Compute", None, 7])
def test_what_is_no_kind_of_file_is_refused(profile: Profile, given: object) -> None:
    with pytest.raises(UnknownNameError, match=r"^kind must be all_reduce, attention, compute or send_recv\. Got "):
        read_profile(profile.write(collective()), given)  # type: ignore[arg-type]


def test_a_git_lfs_pointer_is_refused_with_the_command_that_fetches_the_file(profile: Profile) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 692374\n"
    assert profile.refusal(pointer) == f"{profile.path} is a Git LFS pointer, not the file itself. Run `git lfs pull`."


def zipped() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("mlp.csv", collective())
    return content.getvalue()


def parquet() -> bytes:
    content = io.BytesIO()
    pl.DataFrame({"size": [2048]}).write_parquet(content)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(collective().encode()), "is not a CSV file but compressed by gzip. Unpack it first."),
        (bz2.compress(collective().encode()), "is not a CSV file but compressed by bzip2. Unpack it first."),
        (lzma.compress(collective().encode()), "is not a CSV file but compressed by xz. Unpack it first."),
        (b"\x28\xb5\x2f\xfd\x24", "is not a CSV file but compressed by Zstandard. Unpack it first."),
        (zipped(), f"is not a CSV file but a ZIP archive or a spreadsheet. Unpack it first. {AS_CSV}"),
        (parquet(), f"is not a CSV file but a Parquet file. {AS_CSV}"),
        (collective().encode("utf-16"), f"is not in UTF-8 but in UTF-16. {AS_CSV}"),
        (b"\xfe\xff" + collective().encode("utf-16-be"), f"is not in UTF-8 but in UTF-16. {AS_CSV}"),
        (b"\n<!DOCTYPE html>\n<title>mlp.csv</title>", "is not a CSV file but a web page. Download the file itself."),
        (b"<HTML></HTML>", "is not a CSV file but a web page. Download the file itself."),
    ],
    ids=["gzip", "bzip2", "xz", "zstd", "zip", "parquet", "UTF-16", "UTF-16 BE", "HTML", "HTML without a doctype"],
)
def test_what_is_not_csv_is_refused_by_what_it_is(profile: Profile, content: bytes, said: str) -> None:
    assert profile.refusal(content) == f"{profile.path} {said}"


def test_nul_bytes_are_refused(profile: Profile) -> None:
    assert profile.refusal(f"{COLLECTIVE}\r\n{ROW}\r\n\0\0\0") == (
        f"{profile.path}, line 3 is not text: it holds NUL bytes. Restore the file. {AS_CSV}"
    )
    assert profile.refusal(collective().encode("utf-16-le")) == (
        f"{profile.path}, line 1 is not text: it holds NUL bytes. Restore the file. {AS_CSV}"
    )


def test_bytes_that_are_not_utf_8_are_refused(profile: Profile) -> None:
    assert profile.refusal(f"{COLLECTIVE},note\n{ROW},\n{ROW},5 µs\n".encode("latin-1")) == (
        f"{profile.path}, line 3 is not in UTF-8. Got the byte 0xb5. {AS_CSV}"
    )


def test_more_lines_than_any_profile_has_are_refused(profile: Profile) -> None:
    assert profile.refusal(b"\n" * (10**7 + 1)) == (
        f"{profile.path} must have at most 10,000,000 lines. Split it into several files."
    )


@pytest.mark.parametrize(
    "content", [b"," * 10**6, b'"",' * 10**6, b'"a,b"' + b"," * 10**6], ids=["commas", "idle", "quoted"]
)
def test_a_header_of_silly_width_is_refused(profile: Profile, content: bytes) -> None:
    assert profile.refusal(content) == (
        f"{profile.path} must have at most 10,000 columns. Got 1,000,001. Check that it is a Vidur profile."
    )


def test_a_silly_line_among_quoted_ones_is_refused(profile: Profile) -> None:
    assert profile.refusal(f'{COLLECTIVE},"a,b"\n'.encode() + b"," * 10**7) == (
        f"{profile.path}, line 2 must have at most 10,000,000 bytes. {MEND}"
    )


# Headers.


def test_a_first_line_of_data_is_refused_as_no_header(profile: Profile) -> None:
    assert profile.refusal(f"{ROW}\n{ROW}\n") == (
        f"{profile.path} has no header: its first line is data. Got '2048', '2', '1', '0.05'. "
        "Give it a header: size, num_workers and devices_per_node."
    )


def test_a_column_named_twice_is_refused_by_name(profile: Profile) -> None:
    assert profile.refusal(f"{COLLECTIVE},rank, rank \n{ROW},0,0\n") == (
        f"{profile.path} must name each column once. Got 'rank' 2 times. Rename or drop one."
    )


@pytest.mark.parametrize(("separator", "name"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
@pytest.mark.parametrize("quote", ["", '"'])
def test_another_separator_is_named(profile: Profile, separator: str, name: str, quote: str) -> None:
    header = separator.join(f"{quote}{column}{quote}" for column in COLLECTIVE.split(","))
    row = ROW.replace(",", separator).replace(".", ",")
    assert profile.refusal(f"{header}\n{row}\n") == (
        f"{profile.path} must be separated by commas, not by {name}. Save it with commas."
    )


def test_a_file_of_other_columns_is_told_what_a_profile_has(profile: Profile) -> None:
    assert profile.refusal("a,b,c,d,e,f,g\n1,2,3,4,5,6,7\n", "compute") == (
        f"{profile.path} has none of the key columns of a compute profile. "
        "Got 'a', 'b', 'c', 'd', 'e' and 2 more. "
        "Such a file has n_embd, n_expanded_embd, n_head, n_kv_head, vocab_size, use_gated_mlp, "
        "num_tensor_parallel_workers and num_tokens."
    )


def test_a_file_of_another_kind_is_recognised_by_its_times(profile: Profile) -> None:
    assert profile.refusal("is_prefill,time_stats.attn_kv_cache_save_prefill.median\n1,0.5\n") == (
        f"{profile.path} has none of the key columns of an all_reduce profile. "
        "Got 'is_prefill', 'time_stats.attn_kv_cache_save_prefill.median'. It looks like an attention profile. "
        "Such a file has size, num_workers and devices_per_node."
    )


def test_a_file_of_another_kind_is_recognised_by_its_keys(profile: Profile) -> None:
    assert profile.refusal("size,num_workers\n1,2\n", "compute").split(". ")[2] == (
        "It looks like an all_reduce or a send_recv profile"
    )


@pytest.mark.parametrize(("asked", "there"), [("send_recv", "an all_reduce"), ("all_reduce", "a send_recv")])
def test_a_file_that_times_only_what_another_kind_does_is_refused(profile: Profile, asked: str, there: str) -> None:
    text = collective().replace("all_reduce", there.split()[1])
    article = "an" if asked == "all_reduce" else "a"
    assert profile.refusal(text, asked) == (
        f"{profile.path} times no operator of {article} {asked} profile. It looks like {there} profile."
    )


# Lines.


def test_a_line_with_too_few_cells_is_refused(profile: Profile) -> None:
    assert profile.refusal(f"{COLLECTIVE}\n{ROW}\n\n2048,2,1\n{ROW}\n") == (
        f"{profile.path}, line 4 must have 4 cells, as the header does. Got 3 cells. {MEND}"
    )


def test_a_line_with_too_many_cells_is_refused(profile: Profile) -> None:
    assert profile.refusal(f"{COLLECTIVE}\n{ROW}\n{ROW},\n") == (
        f"{profile.path}, line 3 must have 4 cells, as the header does. Got 5 cells. {MEND}"
    )


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
@pytest.mark.parametrize("quoted", ["", ',"a,b"'])
def test_a_last_line_with_too_few_cells_looks_cut_off(profile: Profile, quoted: str, end: str) -> None:
    width = 5 if quoted else 4
    assert profile.refusal(f"{COLLECTIVE}{quoted}\n{ROW}{quoted}\n20{end}") == (
        f"{profile.path}, line 3 must have {width} cells, as the header does. Got 1 cell. "
        f"It is the last line, so the file looks cut off. {MEND}"
    )


def test_lines_are_checked_where_quotes_hold_commas_and_line_ends(profile: Profile) -> None:
    text = f'{COLLECTIVE},note\n{ROW},"1,\n2"\n{ROW}\n{ROW},\n'
    assert profile.refusal(text) == (
        f"{profile.path}, line 4 must have 5 cells, as the header does. Got 4 cells. {MEND}"
    )


def test_a_quote_that_never_ends_is_refused(profile: Profile) -> None:
    assert profile.refusal(f'{COLLECTIVE},note\n{ROW},\n{ROW},"half\n') == (
        f"{profile.path}, line 3 can't be read as CSV: unexpected end of data. {MEND}"
    )


def test_text_behind_a_quoted_cell_is_refused(profile: Profile) -> None:
    assert profile.refusal(f'{COLLECTIVE}\n{ROW}\n"2048"0,2,1,0.05\n') == (
        f"{profile.path}, line 3 can't be read as CSV: ',' expected after '\"'. {MEND}"
    )


def test_a_cell_that_looks_like_a_compressed_file_is_a_cell(profile: Profile) -> None:
    assert profile.read(f"note,{COLLECTIVE}\nx^,{ROW}\n").keys["size"].tolist() == [2048]


def test_a_refusal_is_one_line_and_can_be_pickled(profile: Profile) -> None:
    profile.write(f"{COLLECTIVE}\n{ROW}\n1")
    with pytest.raises(ProfileError) as caught:
        read_profile(profile.path, "all_reduce")
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == str(caught.value)
    assert error.field == f"{profile.path}, line 3"
    assert "\n" not in str(error)
