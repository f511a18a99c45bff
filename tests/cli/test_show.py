"""`blueprint-nb show`: every figure, with its unit and source, in 100 columns."""

from __future__ import annotations

import re

import pytest

import blueprint_nb as bp
from blueprint_nb.catalog import model_names, system_names

from .conftest import Run


def longest_line(text: str) -> int:
    return max(len(line) for line in text.splitlines())


def test_all_models_are_listed_with_their_size_and_kv_cache(run: Run) -> None:
    ran = run("show", "models")
    assert (ran.status, ran.messages) == (0, "")
    assert [line.split()[0] for line in ran.output.splitlines()[3:]] == list(model_names())
    (row,) = (line for line in ran.output.splitlines() if line.startswith("llama-3.1-70b"))
    assert row.split() == ["llama-3.1-70b", "70.6", "G", "80", "8,192", "64/8", "131,072", "327,680", "decoder"]
    assert longest_line(ran.output) <= 100


def test_all_systems_are_listed_with_the_modes_they_take(run: Run) -> None:
    ran = run("show", "systems")
    assert (ran.status, ran.messages) == (0, "")
    assert [line.split()[0] for line in ran.output.splitlines()[3:]] == list(system_names())
    rows = {line.split()[0]: line for line in ran.output.splitlines()[3:]}
    assert rows["h100_80g_nvl8"].endswith("reference  peak-only, system-evidence")
    assert rows["b200"].endswith("datasheet  peak-only")
    assert longest_line(ran.output) <= 100


def test_a_model_shows_its_parameters_cache_architecture_and_sources(run: Run) -> None:
    ran = run("show", "model", "llama-3.1-70b")
    assert (ran.status, ran.messages) == (0, "")
    lines = {line[:22].strip(): line[22:] for line in ran.output.splitlines()}
    assert lines["parameters"] == "70,553,706,496"
    assert lines["in blocks"] == "68,452,352,000"
    assert lines["KV cache"] == "327,680 bytes a token in float16"
    assert lines["published parameters"] == "70,553,706,496"
    assert lines["architecture"].startswith("80 blocks, GQA 64/8, gated SiLU MLP")
    assert lines["source"].startswith("config.json of meta-llama/Llama-3.1-70B")


@pytest.mark.parametrize("name", model_names())
def test_every_model_can_be_shown_in_100_columns(run: Run, name: str) -> None:
    ran = run("show", "model", name)
    assert ran.status == 0
    assert longest_line(ran.output) <= 100


@pytest.mark.parametrize("name", system_names())
def test_every_figure_of_a_system_has_a_unit_and_a_source_that_is_printed(run: Run, name: str) -> None:
    ran = run("show", "system", name)
    system = bp.load_system(name)
    text = " ".join(ran.output.split())
    assert ran.status == 0
    assert longest_line(ran.output) <= 100
    for path, value in system.figures():
        row = re.search(rf"^{re.escape(path)} +(\S+)  (.*?)  +\[(\d+)\]$", ran.output, flags=re.MULTILINE)
        assert row, path
        assert float(row[1].replace(",", "")) == value
        assert row[2].strip(), path
        assert f"[{row[3]}] {system.source_of(path)}" in text


def test_a_system_says_what_it_lacks_for_a_mode(run: Run) -> None:
    text = " ".join(run("show", "system", "b200").output.split())
    assert "peak-only; system-evidence lacks matrix.efficiency, vector.efficiency, memory.efficiency" in text
