"""Profiles as observations: the work of one rank, what is left out and why, and where each row stands in its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vidur_profiles import ATTENTION, COMPUTE, MESSAGE, times, write

from blueprint_nb.errors import BlueprintError
from blueprint_nb.evidence import FAMILIES, Imported, VidurProfileImporter
from blueprint_nb.evidence.vidur import KINDS, profile_files

IMPORTER = VidurProfileImporter(source_revision="made for a test")
COMPUTE_TIMES = times(*KINDS["compute"].operators)
GQA = {**COMPUTE, "n_embd": 8192, "n_expanded_embd": 22016, "n_head": 64, "n_kv_head": 8}


def read(path: Path, kind: str, *rows: dict[str, Any], **named: Any) -> Imported:
    return IMPORTER.read(write(path / f"{kind}.csv", rows), kind, **{"target": "a100", **named})


def shapes(imported: Imported) -> dict[str, tuple[Any, ...]]:
    """Component to family and the sizes of its shape."""
    return {
        row["component"]: (row["family"], *(row[name] for name in FAMILIES[row["family"]].required))
        for row in imported.observations.iter_rows(named=True)
    }


def test_every_time_of_a_compute_row_is_an_observation_with_the_work_of_one_rank(tmp_path: Path) -> None:
    row = {**GQA, "num_tensor_parallel_workers": 4, "num_tokens": 48, **COMPUTE_TIMES}
    imported = read(tmp_path, "compute", row, model="codellama/CodeLlama-34b-Instruct-hf")
    assert shapes(imported) == {
        "emb": ("embedding", 48, 8192, 8000),
        "input_layernorm": ("rms_norm", 48, 8192),
        "attn_pre_proj": ("gemm", 48, (64 + 2 * 8) * 128 // 4, 8192),
        "attn_rope": ("rope", 48, (64 + 8) * 128 // 4),
        "attn_post_proj": ("gemm", 48, 8192, 8192 // 4),
        "post_attention_layernorm": ("rms_norm", 48, 8192),
        "mlp_up_proj": ("gemm", 48, 2 * 22016 // 4, 8192),
        "mlp_act": ("gated_activation", 48, 22016 // 4),
        "mlp_down_proj": ("gemm", 48, 8192, 22016 // 4),
        "add": ("add", 48, 8192),
    }
    frame = imported.observations
    assert set(frame["tensor_parallel"]) == {4}
    assert set(frame["model"]) == {"codellama/CodeLlama-34b-Instruct-hf"}
    assert set(frame["seconds"]) == {0.01 / 1000}
    assert set(frame["record"]) == {"compute.csv:2"}
    assert imported.skipped == {}


def test_kv_heads_repeat_where_tp_exceeds_them(tmp_path: Path) -> None:
    row = {**COMPUTE, "n_kv_head": 2, "num_tensor_parallel_workers": 8, **times("attn_pre_proj", "attn_rope")}
    assert shapes(read(tmp_path, "compute", row)) == {
        "attn_pre_proj": ("gemm", 1, (32 // 8 + 2 * 1) * 128, 4096),
        "attn_rope": ("rope", 1, (32 // 8 + 1) * 128),
    }


def test_a_block_without_a_gate_has_half_the_up_projection_and_a_plain_activation(tmp_path: Path) -> None:
    row = {**COMPUTE, "use_gated_mlp": False, **times("mlp_up_proj", "mlp_act")}
    assert shapes(read(tmp_path, "compute", row)) == {
        "mlp_up_proj": ("gemm", 1, 11008, 4096),
        "mlp_act": ("activation", 1, 11008),
    }


@pytest.mark.parametrize(
    ("named", "family"),
    [
        ({"model": "microsoft/phi-2"}, "layer_norm"),
        ({"model": "meta-llama/Llama-2-7b-hf"}, "rms_norm"),
        ({}, "rms_norm"),
        ({"norm": "layer_norm"}, "layer_norm"),
        ({"model": "microsoft/phi-2", "norm": "rms_norm"}, "rms_norm"),
    ],
)
def test_a_norm_is_rms_norm_unless_the_model_or_the_caller_says_otherwise(
    tmp_path: Path, named: dict[str, str], family: str
) -> None:
    imported = read(tmp_path, "compute", {**COMPUTE, **times("input_layernorm")}, **named)
    assert imported.observations["family"].to_list() == [family]


def test_decode_and_prefill_rows_say_heads_of_a_rank_and_the_visible_context(tmp_path: Path) -> None:
    decode = {**ATTENTION, "num_tensor_parallel_workers": 2, "batch_size": 8, **times("attn_decode")}
    prefill = {**ATTENTION, "prefill_chunk_size": 64, "is_prefill": True, **times("attn_prefill")}
    imported = read(tmp_path, "attention", decode, prefill)
    assert shapes(imported) == {
        "attn_decode": ("attention_decode", 8, 1, 129, 16, 16, 128),
        "attn_prefill": ("attention_prefill", 1, 64, 192, 32, 32, 128),
    }
    assert set(imported.observations["block_size"]) == {16}
    assert dict(imported.observations.select("component", "record").iter_rows()) == {
        "attn_decode": "attention.csv:2",
        "attn_prefill": "attention.csv:3",
    }


def test_the_kernel_says_where_attention_appends_to_the_cache(tmp_path: Path) -> None:
    within = read(tmp_path, "attention", {**ATTENTION, **times("attn_decode")}).observations
    apart = read(tmp_path, "attention", {**ATTENTION, **times("attn_decode", "attn_kv_cache_save")})
    assert within["kernel"].to_list() == ["FLASH_ATTENTION+kv_save"]
    assert apart.observations["kernel"].to_list() == ["FLASH_ATTENTION", "FLASH_ATTENTION"]
    assert shapes(apart)["attn_kv_cache_save"] == ("kv_save", 1, 2 * 32 * 128)


def test_a_prefill_saves_the_keys_and_values_of_all_its_tokens(tmp_path: Path) -> None:
    row = {**ATTENTION, "batch_size": 2, "prefill_chunk_size": 64, "is_prefill": True, **times("attn_kv_cache_save")}
    assert shapes(read(tmp_path, "attention", row)) == {"attn_kv_cache_save": ("kv_save", 128, 8192)}


def test_collectives_say_bytes_ranks_and_devices_of_a_machine(tmp_path: Path) -> None:
    row = {**MESSAGE, "num_workers": 16, "devices_per_node": 8, **times("all_reduce")}
    frame = read(tmp_path, "all_reduce", row, target="a100_dgx").observations
    assert frame.select("target", "family", "message_bytes", "ranks", "devices_per_node").rows() == [
        ("a100_dgx", "all_reduce", 8192, 16, 8)
    ]
    hop = read(tmp_path, "send_recv", {**MESSAGE, **times("send_recv")})
    assert shapes(hop) == {"send_recv": ("point_to_point", 8192, 2)}


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


@given(st.data())
def test_any_dimensions_give_observations_or_counted_reasons(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    keys = ("n_embd", "n_expanded_embd", "n_head", "n_kv_head", "num_tensor_parallel_workers", "num_tokens")
    size = st.sampled_from([1, 2, 3, 4, 8, 32, 4096])
    row = {**COMPUTE, **{key: data.draw(size, key) for key in keys}, **COMPUTE_TIMES}
    imported = read(tmp_path_factory.getbasetemp(), "compute", row)
    assert len(imported.observations) + sum(imported.skipped.values()) == len(COMPUTE_TIMES)
    assert len(imported.skipped) <= 1
