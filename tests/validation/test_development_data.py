"""The experiment on real profiles: Llama-2-7b, Qwen-72B and CodeLlama-34b on A100, H100 and A40."""

from __future__ import annotations

import random
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from vidur_profiles import case, mapped

from blueprint_nb.analysis import VidurCorpus
from blueprint_nb.evidence.vidur import KINDS
from blueprint_nb.validation import run_vidur_experiment

HARDWARE = {"a100": "a100_80g", "h100": "h100_80g_nvl8", "a40": "a40_48g"}
MODELS = ("llama-2-7b", "qwen-72b", "codellama-34b")
PAIRS = [(hardware, model) for hardware in HARDWARE for model in MODELS]


@pytest.fixture(scope="module")
def corpus(vidur_data: Path) -> VidurCorpus:
    return VidurCorpus(vidur_data)


@lru_cache
def frame_of(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema_length=None)


def keys_of(path: Path, kind: str) -> list[str]:
    columns = frame_of(path).columns
    return [key.name for key in KINDS[kind].keys if key.name in columns]


def query(path: Path, operator: str, key: dict[str, Any]) -> tuple[float, int]:
    """Median in seconds and rows, asked of polars alone."""
    matching = [pl.col(column) == value for column, value in key.items() if operator == "emb" or column != "vocab_size"]
    times = frame_of(path).filter(*matching)[f"time_stats.{operator}.median"].drop_nulls()
    return times.median() / 1e3, len(times)


@pytest.mark.parametrize(("hardware", "model"), PAIRS)
def test_references_are_the_medians_of_an_independent_query(corpus: VidurCorpus, hardware: str, model: str):
    oracle = corpus.baseline(hardware, model)
    path = Path(oracle.files["compute"].table.file)
    keys = frame_of(path).select(keys_of(path, "compute")).unique(maintain_order=True).to_dicts()
    chance = random.Random(7)
    for _ in range(60):
        key, operator = chance.choice(keys), chance.choice(KINDS["compute"].operators)
        found = oracle.lookup(operator, key)
        assert (found.seconds, found.samples) == query(path, operator, key)
        assert found.is_matched


def test_references_of_attention_are_the_medians_of_an_independent_query(corpus: VidurCorpus):
    oracle = corpus.baseline("a100", "codellama-34b")
    path = Path(oracle.files["attention"].table.file)
    keys = frame_of(path).select(keys_of(path, "attention")).unique(maintain_order=True).to_dicts()
    chance = random.Random(11)
    for key in chance.sample(keys, 60):
        found = oracle.lookup("attention_core", key)
        operator = "attn_prefill" if key["is_prefill"] else "attn_decode"
        assert (found.seconds, found.samples) == query(path, operator, key)


@pytest.mark.parametrize("kind", ["all_reduce", "send_recv"])
def test_references_of_collectives_are_the_medians_of_an_independent_query(corpus: VidurCorpus, kind: str):
    oracle = corpus.baseline("a100", "codellama-34b", network="a100_dgx")
    path = Path(oracle.files[kind].table.file)
    keys = frame_of(path).select(keys_of(path, kind)).unique(maintain_order=True).to_dicts()
    for key in random.Random(13).sample(keys, 40):
        found = oracle.lookup(kind, key)
        assert (found.seconds, found.samples) == query(path, kind, key)
        assert found.is_matched == (key["size"] >= 2_000_000)


@pytest.mark.parametrize(("hardware", "model"), PAIRS)
def test_all_ten_columns_have_a_component(corpus: VidurCorpus, hardware: str, model: str):
    oracle = corpus.baseline(hardware, model)
    cases = [case(f"TP {t}", model=model, hardware=HARDWARE[hardware], mapping=mapped(t)) for t in (1, 2, 4, 8)]
    rows = run_vidur_experiment(cases, oracle).components.filter(mode="peak-only")
    operators = set(rows.filter(pl.col("operator").is_in(KINDS["compute"].operators))["operator"])
    assert operators == set(KINDS["compute"].operators)
    uncovered = rows.filter(pl.col("operator").is_in(KINDS["compute"].operators), pl.col("state") != "matched")
    # Two of the models were profiled with their vocabulary padded to 32,768.
    padded = [] if model == "qwen-72b" else ["no row: mlp.csv has none with vocab_size 32,000"] * 4
    assert uncovered["reason"].to_list() == padded
    assert set(uncovered["component"]) <= {"embedding"}


def test_every_row_of_a_file_at_once_gives_the_same_as_case_by_case(corpus: VidurCorpus):
    oracle = corpus.baseline("a100", "llama-2-7b")
    keys = oracle.files["compute"].table.keys
    points = sorted(set(zip(keys["num_tensor_parallel_workers"].tolist(), keys["num_tokens"].tolist(), strict=True)))
    cases = [case(f"TP {t} m {m}", mapping=mapped(t), batch_size=m) for t, m in points]
    assert len(cases) > 1000
    whole = run_vidur_experiment(cases, oracle)
    assert whole.cases.height == 3 * len(cases)
    for one in random.Random(17).sample(cases, 20):
        alone = run_vidur_experiment([one], oracle)
        assert alone.cases.equals(whole.cases.filter(pl.col("case") == one.name))
        assert alone.components.equals(whole.components.filter(pl.col("case") == one.name))


def test_the_attention_of_a_grouped_model_is_matched_at_its_contexts(corpus: VidurCorpus):
    oracle = corpus.baseline("a100", "codellama-34b")
    report = run_vidur_experiment([case(model="codellama-34b", mapping=mapped(2), context_tokens=993)], oracle)
    row = report.components.filter(component="attention_core", mode="peak-only").to_dicts()[0]
    assert (row["state"], row["operator"]) == ("matched", "attn_decode")


def test_an_add_from_cache_beats_the_memory_and_stays(corpus: VidurCorpus):
    oracle = corpus.baseline("h100", "llama-2-7b")
    report = run_vidur_experiment([case(hardware="h100_80g_nvl8", batch_size=1472)], oracle)
    row = report.components.filter(component="mlp_residual", mode="peak-only").to_dicts()[0]
    assert row["state"] == "matched"
    assert "more than the HBM of h100_80g_nvl8 gives" in row["note"]
    assert row["error_percent"] > 0


def test_a_model_of_the_same_heads_is_found_in_the_attention_file_alone(corpus: VidurCorpus):
    oracle = corpus.baseline("a100", "llama-2-70b")
    report = run_vidur_experiment([case(model="llama-2-70b", mapping=mapped(2), context_tokens=993)], oracle)
    rows = report.components.filter(mode="peak-only")
    assert rows.filter(state="matched")["component"].to_list() == ["attention_core"]


def test_a_corpus_says_what_it_holds(corpus: VidurCorpus):
    frame = corpus.frame
    assert frame.height == 9
    assert frame["compute_rows"].to_list() == [1044] * 9
    attention = dict(zip(frame["hardware"] + " " + frame["model"], frame["attention_rows"], strict=True))
    assert attention["a100 codellama/CodeLlama-34b-Instruct-hf"] == 6417
    assert attention["a100 meta-llama/Llama-2-7b-hf"] == 0
    assert attention["h100 Qwen/Qwen-72B"] is None
    assert frame["tensor_parallel"].to_list() == [[1, 2, 4, 8]] * 9
    assert set(frame["fault"]) == {""}
    assert corpus.networks == ("a100_dgx",)
