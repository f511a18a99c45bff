"""Tables in the layout of aiconfigurator-core, made row by row: what each row reads as, and what is left out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from blueprint_nb.errors import BlueprintError, MissingExtraError
from blueprint_nb.evidence import AiconfiguratorImporter, Imported, source_keys

ROW: dict[str, Any] = {"framework": "VLLM", "version": "0.24.0", "device": "NVIDIA H100", "latency": 0.5}
GEMM = {**ROW, "op_name": "gemm", "kernel_source": "cublas", "gemm_dtype": "bfloat16", "m": 16, "n": 4096, "k": 1024}
ATTENTION = {
    **ROW, "kernel_source": "fa3", "batch_size": 8, "isl": 64, "num_heads": 32, "num_key_value_heads": 8,
    "head_dim": 128, "beam_width": 1, "window_size": 0, "attn_dtype": "bfloat16", "kv_cache_dtype": "bfloat16", "step": 0,
}  # fmt: skip
CONTEXT = {**ATTENTION, "op_name": "context_attention"}
GENERATION = {**ATTENTION, "op_name": "generation_attention", "isl": 1, "step": 4095}
REDUCE = {
    **ROW, "op_name": "all_reduce", "kernel_source": "vLLM_custom_graph", "allreduce_dtype": "bfloat16", "num_gpus": 8,
    "message_size": 4096, "backend": "vllm_graph",
}  # fmt: skip
NCCL = {
    **ROW, "framework": "TRTLLM", "version": "2.29.2", "op_name": "all_gather", "kernel_source": "NCCL",
    "nccl_dtype": "half", "num_gpus": 8, "message_size": 4096,
}  # fmt: skip


def table(folder: Path, name: str, *rows: dict[str, Any], place: str = "h100_sxm/op/vllm/0.24.0") -> None:
    path = folder / place / f"{name}_perf.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(list(rows)).write_parquet(path)


def read(folder: Path, name: str, *rows: dict[str, Any], place: str = "h100_sxm/op/vllm/0.24.0") -> Imported:
    table(folder, name, *rows, place=place)
    return AiconfiguratorImporter(folder, "0.12.0").read_all()


def only(imported: Imported) -> dict[str, Any]:
    (row,) = imported.observations.iter_rows(named=True)
    return {name: value for name, value in row.items() if value is not None}


def test_a_gemm_row(tmp_path: Path) -> None:
    row = only(read(tmp_path, "gemm", GEMM))
    assert len(row.pop("file_sha256")) == 64
    assert row == {
        "target": "h100_sxm", "family": "gemm", "component": "gemm", "datatype": "bfloat16", "software": "vllm",
        "software_version": "0.24.0", "kernel": "cublas", "m": 16, "n": 4096, "k": 1024, "model": "",
        "seconds": 0.0005, "samples": 1, "source": "aiconfigurator-core", "source_revision": "0.12.0",
        "licence": "Apache-2.0", "record": "gemm_perf.parquet:0",
    }  # fmt: skip


def test_a_context_row_sees_its_own_tokens_and_the_past_ones(tmp_path: Path) -> None:
    row = only(read(tmp_path, "context_attention", {**CONTEXT, "step": 100}))
    assert (row["family"], row["query_tokens"], row["context_tokens"]) == ("attention_prefill", 64, 164)
    assert (row["batch"], row["heads"], row["kv_heads"], row["head_size"]) == (8, 32, 8, 128)


def test_a_generation_row_has_one_new_token_and_sees_it_too(tmp_path: Path) -> None:
    row = only(read(tmp_path, "generation_attention", GENERATION))
    assert (row["family"], row["query_tokens"], row["context_tokens"]) == ("attention_decode", 1, 4096)


def test_tables_without_windows_and_beams_have_none(tmp_path: Path) -> None:
    row = {name: value for name, value in GENERATION.items() if name not in ("window_size", "beam_width")}
    assert len(read(tmp_path, "generation_attention", row).observations) == 1


def test_messages_are_counted_in_elements_and_become_bytes(tmp_path: Path) -> None:
    table(tmp_path, "custom_allreduce", REDUCE)
    frame = read(tmp_path, "nccl", NCCL, {**NCCL, "op_name": "reduce_scatter"}, place="h100_sxm/comm/nccl/2.23")
    columns = ("family", "message_bytes", "ranks", "devices_per_node", "datatype", "software", "software_version")
    assert sorted(frame.observations.select(columns).iter_rows()) == [
        ("all_gather", 8192, 8, None, "float16", "nccl", "2.29.2"),
        ("all_reduce", 8192, 8, None, "bfloat16", "vllm", "0.24.0"),
        ("reduce_scatter", 8192, 8, None, "float16", "nccl", "2.29.2"),
    ]


def test_eager_and_graph_launches_are_kept_apart_by_kernel(tmp_path: Path) -> None:
    eager = {**REDUCE, "kernel_source": "vLLM_custom_eager"}
    frame = read(tmp_path, "custom_allreduce", REDUCE, eager).observations
    assert frame["kernel"].to_list() == ["vLLM_custom_graph", "vLLM_custom_eager"]


def test_a_row_says_what_ran_and_its_folder_where_it_does_not(tmp_path: Path) -> None:
    copied = {**REDUCE, "framework": "TRTLLM", "version": "1.2.0rc5"}
    silent = {name: value for name, value in NCCL.items() if name not in ("framework", "version")}
    table(tmp_path, "custom_allreduce", copied, place="h100_sxm/comm/sglang/0.5.6")
    imported = read(tmp_path, "nccl", silent, place="h100_sxm/comm/nccl/2.23")
    assert source_keys(imported.observations) == [
        ("aiconfigurator-core", "0.12.0", "nccl", "2.23"),
        ("aiconfigurator-core", "0.12.0", "trtllm", "1.2.0rc5"),
    ]


def test_what_has_no_place_among_observations_is_counted_with_its_reason(tmp_path: Path) -> None:
    imported = read(
        tmp_path,
        "generation_attention",
        GENERATION,
        {**GENERATION, "window_size": 128},
        {**GENERATION, "window_size": 1024},
        {**GENERATION, "beam_width": 4},
        {**GENERATION, "kv_cache_dtype": "fp8"},
        {**GENERATION, "attn_dtype": "nvfp4", "kv_cache_dtype": "nvfp4"},
        {**GENERATION, "latency": 0.0},
        {**GENERATION, "latency": float("nan")},
        {**GENERATION, "latency": None},
    )
    assert len(imported.observations) == 1
    assert imported.skipped == {
        "latency must be a positive number": 3,
        "a sliding window: window_size is not 0": 2,
        "beam search: beam_width is not 1": 1,
        "attention in bfloat16 over a cache in fp8": 1,
        "no datatype of the project: nvfp4": 1,
    }


def test_datatypes_get_the_names_of_the_project(tmp_path: Path) -> None:
    names = ["bfloat16", "float16", "half", "fp8", "float32", "fp8_block", "int8_wo", None]
    imported = read(tmp_path, "gemm", *({**GEMM, "gemm_dtype": name} for name in names))
    assert imported.observations["datatype"].to_list() == ["bfloat16", "float16", "float16", "float8", "float32"]
    assert imported.skipped == {f"no datatype of the project: {name}": 1 for name in ("fp8_block", "int8_wo", "none")}


def test_an_all_to_all_is_no_collective_of_the_project(tmp_path: Path) -> None:
    imported = read(tmp_path, "nccl", {**NCCL, "op_name": "alltoall"})
    assert imported.skipped == {"no such collective: alltoall": 1}


def test_duplicates_stay_but_a_copied_file_counts_once(tmp_path: Path) -> None:
    table(tmp_path, "gemm", GEMM, GEMM)
    table(tmp_path, "gemm", GEMM, GEMM, place="h100_sxm/op/vllm/0.22.0")
    imported = read(tmp_path, "gemm", GEMM, GEMM, place="h200_sxm/op/vllm/0.24.0")
    assert imported.observations["target"].to_list() == 2 * ["h100_sxm"] + 2 * ["h200_sxm"]
    assert imported.skipped == {"in a copy of a file read before": 2}


def test_targets_and_kinds_choose_tables(tmp_path: Path) -> None:
    table(tmp_path, "gemm", GEMM)
    table(tmp_path, "gemm", GEMM, place="a100_sxm/op/vllm/0.14.0")
    table(tmp_path, "nccl", NCCL)
    importer = AiconfiguratorImporter(tmp_path, "0.12.0")
    assert [table.target for table in importer.tables(kinds="gemm")] == ["a100_sxm", "h100_sxm"]
    assert [table.kind for table in importer.tables(targets=["h100_sxm"])] == ["gemm", "nccl"]
    with pytest.raises(BlueprintError) as caught:
        importer.tables(targets="h100")
    assert str(caught.value) == "target must be a100_sxm or h100_sxm. Got 'h100'. Did you mean h100_sxm?"


def test_a_table_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    table(tmp_path, "gemm", {name: value for name, value in GEMM.items() if name != "m"})
    path = tmp_path / "h100_sxm/op/vllm/0.24.0/gemm_perf.parquet"
    importer = AiconfiguratorImporter(tmp_path, "0.12.0")
    with pytest.raises(BlueprintError) as caught:
        importer.read_all()
    assert str(caught.value) == (
        f"{path}, column m must be Int64. Got no such column. "
        "Use a version of aiconfigurator-core that this project can read."
    )
    path.write_bytes(b"PAR1 but no more")
    with pytest.raises(BlueprintError) as caught:
        importer.read_all()
    assert str(caught.value).startswith(f"{path} can't be read as Parquet: ")
    assert str(caught.value).endswith(" Install aiconfigurator-core anew.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere", "0.12.0"), "nowhere holds no tables of measurements. Name the folder systems/data of the package aiconfigurator-core."),
        ((7, "0.12.0"), "folder must be the path of a folder. Got 7."),
        (("nowhere", None), "source_revision must be given with folder. Got None."),
    ],
)  # fmt: skip
def test_what_is_no_folder_of_tables_is_refused(arguments: tuple[Any, Any], message: str) -> None:
    with pytest.raises(BlueprintError) as caught:
        AiconfiguratorImporter(*arguments).tables()
    assert str(caught.value) == message


def test_without_the_package_the_way_to_install_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    monkeypatch.delitem(sys.modules, "aiconfigurator_core", raising=False)
    with pytest.raises(MissingExtraError) as caught:
        AiconfiguratorImporter()
    assert str(caught.value) == (
        "The package aiconfigurator-core is not installed, and its tables are read where it is. "
        "Install the extra: pip install 'blueprint-nb[evidence]'."
    )
