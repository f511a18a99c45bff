"""Vidur's own files, where they are at hand: values picked by hand, and every time accounted for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from blueprint_nb.evidence import FAMILIES, Imported, VidurProfileImporter, one_source

IMPORTER = VidurProfileImporter(source_revision="7d47513363ec447a741ac5e47241580b47724fbf")


@pytest.fixture(scope="module")
def imported(vidur_data: Path) -> Imported:
    return IMPORTER.read_folder(vidur_data)


def test_a_row_of_a_100_codellama_34b_at_tp_8(imported: Imported) -> None:
    frame = imported.observations.filter(
        pl.col("target") == "a100", pl.col("model").str.contains("CodeLlama"), pl.col("record") == "mlp.csv:1045"
    )
    found = {row["component"]: (row["family"], *shape(row)) for row in frame.iter_rows(named=True)}
    assert found == {
        "emb": ("embedding", 1, 8192, 4096),
        "input_layernorm": ("rms_norm", 1, 8192),
        "attn_pre_proj": ("gemm", 1, 1280, 8192),
        "attn_rope": ("rope", 1, 1152),
        "attn_post_proj": ("gemm", 1, 8192, 1024),
        "post_attention_layernorm": ("rms_norm", 1, 8192),
        "mlp_up_proj": ("gemm", 1, 5504, 8192),
        "mlp_act": ("gated_activation", 1, 2752),
        "mlp_down_proj": ("gemm", 1, 8192, 2752),
        "add": ("add", 1, 8192),
    }
    microseconds = [3, 8, 19, 3, 15, 8, 60, 3, 33, 2]
    assert frame["component"].to_list() == list(found)
    assert (frame["seconds"] * 1e6).to_list() == pytest.approx(microseconds)
    spread = frame.filter(pl.col("component") == "attn_pre_proj")["spread_seconds"]
    assert spread.to_list() == [pytest.approx(1e-6)]


@pytest.mark.parametrize(
    ("record", "component", "family", "sizes", "seconds", "spread_seconds"),
    [
        ("mlp.csv:328", "mlp_up_proj", "gemm", (2048, 24576, 8192), 1167.5e-6, None),
        ("attention.csv:2369", "attn_decode", "attention_decode", (64, 1, 2113, 32, 4, 128), 221e-6, 3e-6),
        ("attention.csv:5208", "attn_prefill", "attention_prefill", (1, 512, 2048, 32, 4, 128), 186e-6, 11e-6),
        ("all_reduce.csv:5965", "all_reduce", "all_reduce", (2**26, 8), 675e-6, 3e-6),
        ("send_recv.csv:1989", "send_recv", "point_to_point", (2**26, 2), 294e-6, None),
        ("cpu_overheads.csv:2", "schedule", "host", (8,), 0.1996876192952873e-3, None),
    ],
)
def test_rows_picked_by_hand(
    imported: Imported,
    record: str,
    component: str,
    family: str,
    sizes: tuple[int, ...],
    seconds: float,
    spread_seconds: float | None,
) -> None:
    frame = imported.observations.filter(pl.col("record") == record, pl.col("component") == component)
    rows = [row for row in frame.iter_rows(named=True) if (row["target"], row["model"]) not in OTHERS]
    (row,) = [row for row in rows if shape(row) == sizes]
    assert row["family"] == family
    assert row["seconds"] == pytest.approx(seconds, rel=1e-12)
    if spread_seconds is not None:
        assert row["spread_seconds"] == pytest.approx(spread_seconds, abs=1e-12)


OTHERS = [(target, "Qwen/Qwen-72B") for target in ("a100", "a40")]
"""Files that share the H100 file's lines and shapes."""


def shape(row: dict[str, Any]) -> tuple[int, ...]:
    return tuple(row[name] for name in FAMILIES[row["family"]].required)


def test_every_time_in_the_files_is_an_observation_or_counted(vidur_data: Path) -> None:
    path = vidur_data / "profiling/attention/a100/attention.csv"
    raw = pl.read_csv(path, infer_schema_length=None)
    times = sum(len(raw[f"time_stats.{name}.median"].drop_nulls()) for name in ("attn_prefill", "attn_decode"))
    imported = IMPORTER.read(path, "attention", target="a100")
    assert len(imported.observations) + sum(imported.skipped.values()) == times
    assert set(imported.observations["kernel"]) == {"FLASH_ATTENTION+kv_save"}


def test_all_development_files_are_one_source_with_every_family_they_time(imported: Imported) -> None:
    frame = one_source(imported.observations)
    untimed = {"layer_norm", "activation", "kv_save", "all_gather", "reduce_scatter"}
    assert set(frame["family"]) == set(FAMILIES) - untimed
    assert frame["file_sha256"].n_unique() == 13
    assert frame["spread_seconds"].null_count() == len(frame.filter(pl.col("family") == "host"))
