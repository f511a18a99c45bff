"""Profiles as observations: where each row stands, what is left out and why, and which files are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from vidur_profiles import ATTENTION, COMPUTE, MESSAGE, times, write

from blueprint_nb.errors import BlueprintError
from blueprint_nb.evidence.vidur import profile_files

from .vidur_imports import IMPORTER, read


def test_the_spread_is_largest_less_smallest_and_null_where_the_file_says_neither(tmp_path: Path) -> None:
    ends = {"time_stats.add.min": 0.008, "time_stats.add.max": 0.014}
    with_ends = {**COMPUTE, **times("add"), **ends}
    without = {**COMPUTE, "num_tokens": 2, **times("add"), "time_stats.add.min": "", "time_stats.add.max": 0.014}
    spread = read(tmp_path, "compute", with_ends, without).observations["spread_seconds"].to_list()
    assert spread == [pytest.approx(6e-6), None]
    assert read(tmp_path, "compute", {**COMPUTE, **times("add")}).observations["spread_seconds"].to_list() == [None]


def test_duplicates_stay_rows_of_their_own(tmp_path: Path) -> None:
    frame = read(tmp_path, "compute", *2 * [{**COMPUTE, **times("add")}]).observations
    assert frame["record"].to_list() == ["compute.csv:2", "compute.csv:3"]
    assert frame["samples"].to_list() == [1, 1]


def test_times_that_can_be_none_are_counted_and_empty_ones_were_not_measured(tmp_path: Path) -> None:
    rows = [{**COMPUTE, "time_stats.add.median": cell} for cell in (0.01, "", "fast", 0, 0)]
    imported = read(tmp_path, "compute", *rows)
    assert len(imported.observations) == 1
    assert imported.skipped == {"must be a number": 1, "must be positive": 2}


def test_times_of_rows_whose_dimensions_do_not_fit_are_counted_once(tmp_path: Path) -> None:
    odd = {**COMPUTE, "num_tensor_parallel_workers": 3, **times("add", "mlp_act")}
    imported = read(tmp_path, "compute", {**COMPUTE, **times("add", "mlp_act")}, odd)
    assert len(imported.observations) == 2
    assert imported.skipped == {"n_head must be a multiple of num_tensor_parallel_workers": 2}


def test_a_prefill_of_no_tokens_is_counted(tmp_path: Path) -> None:
    imported = read(tmp_path, "attention", {**ATTENTION, "is_prefill": True, **times("attn_prefill")})
    assert imported.skipped == {"prefill_chunk_size must be at least 1 in a prefill": 1}


def test_a_file_without_a_key_that_its_work_needs_is_refused(tmp_path: Path) -> None:
    row = {name: value for name, value in COMPUTE.items() if name != "n_embd"}
    with pytest.raises(BlueprintError) as caught:
        read(tmp_path, "compute", {**row, **times("add")})
    assert str(caught.value) == (
        f"{tmp_path}/compute.csv must have the column n_embd, which its work is known by. Mend or restore the file."
    )


def test_a_file_with_keys_alone_holds_no_observations(tmp_path: Path) -> None:
    assert len(read(tmp_path, "compute", {"num_tokens": 1, "num_tensor_parallel_workers": 1}).observations) == 0


def test_host_times_are_of_a_model_a_batch_and_a_tp(tmp_path: Path) -> None:
    row = {"schedule_mean": 9.0, "schedule_median": 0.25, "model_name": "Qwen/Qwen-72B", "batch_size": 8, "tensor_parallel_degree": 4, "ray_comm_time_mean": 6.5}  # fmt: skip
    frame = read(tmp_path, "cpu_overheads", row, {**row, "batch_size": 16, "schedule_median": 0}).observations
    columns = ("family", "component", "datatype", "model", "batch", "tensor_parallel", "seconds", "record")
    assert frame.select(columns).rows() == [
        ("host", "schedule", "", "Qwen/Qwen-72B", 8, 4, 0.25e-3, "cpu_overheads.csv:2"),
        ("host", "ray_comm_time_mean", "", "Qwen/Qwen-72B", 8, 4, 6.5e-3, "cpu_overheads.csv:2"),
        ("host", "ray_comm_time_mean", "", "Qwen/Qwen-72B", 16, 4, 6.5e-3, "cpu_overheads.csv:3"),
    ]


def test_a_host_file_without_its_keys_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BlueprintError, match=r"must have the column model_name, which says what a row is of\."):
        read(tmp_path, "cpu_overheads", {"batch_size": 8, "tensor_parallel_degree": 4, "schedule_median": 1})


def test_a_folder_is_read_by_its_layout_and_what_cannot_be_read_is_counted(tmp_path: Path) -> None:
    for folder, kind, row in [
        ("compute/a100/meta-llama/Llama-2-7b-hf", "mlp", {**COMPUTE, **times("add")}),
        ("attention/a100", "attention", {**ATTENTION, **times("attn_decode")}),
        ("network/a100_dgx", "all_reduce", {**MESSAGE, **times("all_reduce")}),
    ]:
        place = tmp_path / "data/profiling" / folder
        place.mkdir(parents=True)
        write(place / f"{kind}.csv", [row])
    pointer = tmp_path / "data/profiling/network/a100_dgx/send_recv.csv"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\n")
    imported = IMPORTER.read_folder(tmp_path)
    assert sorted(imported.observations.select("target", "model", "component").iter_rows()) == [
        ("a100", "", "attn_decode"),
        ("a100", "meta-llama/Llama-2-7b-hf", "add"),
        ("a100_dgx", "", "all_reduce"),
    ]
    assert imported.skipped == {f"{pointer} is a Git LFS pointer, not the file itself. Run `git lfs pull`.": 1}
    assert [file.kind for file in profile_files(tmp_path)] == ["attention", "compute", "all_reduce", "send_recv"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: IMPORTER.read("x.csv", "mlp", target="a100"), "kind must be all_reduce, attention, compute, cpu_overheads or send_recv. Got 'mlp'."),
        (lambda: IMPORTER.read("x.csv", "compute", target="a100", norm="layernorm"), "norm must be layer_norm or rms_norm. Got 'layernorm'. Did you mean layer_norm or rms_norm?"),
        (lambda: IMPORTER.read("nowhere.csv", "compute", target="a100"), "nowhere.csv can't be read: no such file or directory. Check the path."),
        (lambda: profile_files("nowhere"), "nowhere holds no Vidur profiles. Name the folder data/profiling of a checkout of Vidur."),
        (lambda: profile_files(7), "root must be the path of a folder. Got 7."),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_cannot_be_imported_is_refused(call: Any, message: str) -> None:
    with pytest.raises(BlueprintError) as caught:
        call()
    assert str(caught.value) == message


def test_a_target_has_to_be_named(tmp_path: Path) -> None:
    with pytest.raises(BlueprintError, match=r"observations, row 0, column target must not be empty\."):
        read(tmp_path, "compute", {**COMPUTE, **times("add")}, target="")
