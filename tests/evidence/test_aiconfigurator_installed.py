"""The installed tables of aiconfigurator-core, where they are at hand: values picked by hand, and what columns mean."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import polars as pl
import pytest

from blueprint_nb.errors import MissingExtraError
from blueprint_nb.evidence import FAMILIES, AiconfiguratorImporter, Imported

VERSION = "0.12.0"


@pytest.fixture(scope="module")
def importer() -> AiconfiguratorImporter:
    try:
        found = AiconfiguratorImporter()
    except MissingExtraError as error:
        pytest.skip(str(error))
    if found.source_revision != VERSION:
        pytest.skip(f"The values are of aiconfigurator-core {VERSION}, and {found.source_revision} is installed.")
    return found


@pytest.fixture(scope="module")
def a100(importer: AiconfiguratorImporter) -> Imported:
    return importer.read_all(targets="a100_sxm")


def test_the_tables_are_found_without_importing_native_code(importer: AiconfiguratorImporter) -> None:
    script = (
        "import sys; from blueprint_nb.evidence import AiconfiguratorImporter\n"
        "importer = AiconfiguratorImporter(); importer.read(importer.tables(targets='a100_sxm', kinds='nccl')[0])\n"
        "print([name for name in ('aiconfigurator_core', 'pandas', 'pyarrow') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("[]\n", "")


@pytest.mark.parametrize(
    ("software", "record", "family", "sizes", "seconds"),
    [
        ("vllm", "gemm_perf.parquet:8885", "gemm", (1, 8192, 8192), 96.912e-6),
        ("vllm", "generation_attention_perf.parquet:1982", "attention_decode", (8, 1, 4096, 32, 8, 128), 107.643e-6),
        ("vllm", "context_attention_perf.parquet:1867", "attention_prefill", (1, 4096, 4096, 32, 8, 128), 899.616e-6),
        ("nccl", "nccl_perf.parquet:356", "all_gather", (2**29, 8), 2.288e-3),
        ("nccl", "nccl_perf.parquet:440", "reduce_scatter", (2**29, 8), 2.2071e-3),
        ("nccl", "nccl_perf.parquet:482", "all_reduce", (2**29, 8), 4.2259e-3),
    ],
)
def test_rows_picked_by_hand(
    a100: Imported, software: str, record: str, family: str, sizes: tuple[int, ...], seconds: float
) -> None:
    frame = a100.observations.filter(pl.col("software") == software, pl.col("record") == record)
    (row,) = frame.iter_rows(named=True)
    assert (row["family"], shape(row)) == (family, sizes)
    assert row["seconds"] == pytest.approx(seconds, rel=1e-5)
    assert (row["source"], row["source_revision"], row["licence"]) == ("aiconfigurator-core", VERSION, "Apache-2.0")


def shape(row: dict[str, Any]) -> tuple[int, ...]:
    return tuple(row[name] for name in FAMILIES[row["family"]].required)


def test_every_row_is_an_observation_or_counted(importer: AiconfiguratorImporter, a100: Imported) -> None:
    rows = sum(len(pl.read_parquet(table.path)) for table in importer.tables(targets="a100_sxm"))
    assert len(a100.observations) + sum(a100.skipped.values()) == rows
    assert a100.skipped == {
        "no datatype of the project: int8_wo": 6048,
        "no datatype of the project: int4_wo": 6048,
        "no datatype of the project: sq": 6048,
        "no datatype of the project: int8": 252,
        "no such collective: alltoall": 63,
    }


def test_duplicates_of_context_attention_stay(a100: Imported) -> None:
    frame = a100.observations.filter(pl.col("software") == "vllm", pl.col("family") == "attention_prefill")
    keys = ["batch", "query_tokens", "heads", "kv_heads", "head_size"]
    assert (len(frame), frame.select(keys).n_unique()) == (5457, 5049)


def test_files_that_are_copies_count_once(importer: AiconfiguratorImporter) -> None:
    imported = importer.read_all(targets="l40s", kinds="custom_allreduce")
    assert imported.skipped == {"in a copy of a file read before": 3 * 69 + 138}


def test_message_size_counts_elements(importer: AiconfiguratorImporter) -> None:
    """Half at S takes the time of int8 at 2S, and bfloat16 at S that of half at S."""
    nccl = raw(importer, "nccl").filter(pl.col("op_name") == "all_gather", pl.col("message_size") >= 2**20)
    half = nccl.filter(pl.col("nccl_dtype") == "half").with_columns(pl.col("message_size") * 2)
    int8 = nccl.filter(pl.col("nccl_dtype") == "int8")
    ratios = half.join(int8, on=["num_gpus", "message_size"])
    assert len(ratios) > 20
    assert (ratios["latency"] / ratios["latency_right"]).median() == pytest.approx(1, abs=0.02)

    reduced = raw(importer, "nccl").filter(pl.col("op_name") == "all_reduce", pl.col("nccl_dtype") == "half")
    custom = raw(importer, "custom_allreduce").filter(pl.col("kernel_source") == "vLLM_custom_graph")
    same = custom.join(reduced, on=["num_gpus", "message_size"]).filter(pl.col("message_size") >= 2**26)
    assert len(same) == 9
    assert (same["latency"] / same["latency_right"]).to_list() == pytest.approx(9 * [1], abs=0.02)


def test_a_buffer_is_the_whole_one(importer: AiconfiguratorImporter, a100: Imported) -> None:
    """Were it one rank's share, eight ranks would gather faster than NVLink's 300 GB/s each way."""
    gathered = a100.observations.filter(pl.col("family").is_in(["all_gather", "reduce_scatter"]), pl.col("ranks") == 8)
    crossing = gathered["message_bytes"] * 7 / 8 / gathered["seconds"]
    assert 200e9 < crossing.max() < 300e9


def test_generation_steps_have_one_token_and_a_past(importer: AiconfiguratorImporter) -> None:
    rows = raw(importer, "generation_attention")
    assert set(rows["isl"]) == {1}
    assert {step + 1 for step in set(rows["step"])} == {2**power for power in range(1, 18)}


def raw(importer: AiconfiguratorImporter, kind: str) -> pl.DataFrame:
    """All of the A100's tables of a kind, as they are stored."""
    tables = importer.tables(targets="a100_sxm", kinds=kind)
    return pl.concat([pl.read_parquet(table.path) for table in tables], how="diagonal")
