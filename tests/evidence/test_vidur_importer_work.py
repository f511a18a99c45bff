"""Profiles as observations: the work of one rank behind each time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vidur_profiles import ATTENTION, COMPUTE, MESSAGE, times

from blueprint_nb.catalog import profiles_folder

from .vidur_imports import COMPUTE_TIMES, GQA, IMPORTER, read, shapes


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


PARALLEL = {**COMPUTE, "n_embd": 2560, "n_expanded_embd": 10240, "use_gated_mlp": False}
TWO_ADDS = "must time one add: a block without post_attention_layernorm runs two"


def test_the_add_of_a_parallel_block_is_two_and_is_left_out_and_counted(tmp_path: Path) -> None:
    parallel = {**PARALLEL, **times("input_layernorm", "mlp_act", "add")}
    serial = {**COMPUTE, **times("input_layernorm", "post_attention_layernorm", "add")}
    imported = read(tmp_path, "compute", parallel, serial, parallel)
    assert imported.skipped == {TWO_ADDS: 2}
    adds = imported.observations.filter(component="add")
    assert adds.select("record", "width").rows() == [("compute.csv:3", 4096)]
    assert len(imported.observations) == 2 + 2 + 1 + 1 + 1


def test_no_add_of_the_shipped_phi_2_is_taken_for_one() -> None:
    path = profiles_folder() / "vidur" / "phi2_a100_tp1" / "mlp.csv"
    imported = IMPORTER.read(path, "compute", target="a100", model="microsoft/phi-2")
    assert imported.skipped == {TWO_ADDS: 2}
    assert "add" not in set(imported.observations["component"])


@pytest.mark.parametrize("norm", [{}, {"time_stats.post_attention_layernorm.median": 9000}])
def test_a_block_is_parallel_only_where_its_input_norm_is_timed_and_no_other(
    tmp_path: Path, norm: dict[str, int]
) -> None:
    timed = times("add", "input_layernorm") if norm else times("add")
    imported = read(tmp_path, "compute", {**PARALLEL, **timed, **norm})
    assert shapes(imported)["add"] == ("add", 1, 2560)
    assert TWO_ADDS not in imported.skipped


def test_one_row_with_a_second_norm_makes_all_rows_of_its_block_serial(tmp_path: Path) -> None:
    rows = [{**COMPUTE, "num_tokens": m, **times("input_layernorm", "add")} for m in (1, 2)]
    imported = read(tmp_path, "compute", *rows, {**COMPUTE, "num_tokens": 3, **times("post_attention_layernorm")})
    assert imported.observations.filter(component="add")["rows"].to_list() == [1, 2]
    assert imported.skipped == {}


def test_a_parallel_add_of_dimensions_that_do_not_fit_is_counted_once(tmp_path: Path) -> None:
    odd = {**PARALLEL, "num_tensor_parallel_workers": 3, **times("input_layernorm", "add")}
    assert read(tmp_path, "compute", odd).skipped == {"n_head must be a multiple of num_tensor_parallel_workers": 2}


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
