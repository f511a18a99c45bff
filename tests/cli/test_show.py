"""`blueprint-nb show`: every figure, with its unit and source, in 100 columns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import blueprint_nb as bp
from blueprint_nb.catalog import model_names, profiles_folder, system_names

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


def test_all_systems_are_listed_with_the_modes_and_calibrations_they_take(run: Run) -> None:
    ran = run("show", "systems")
    assert (ran.status, ran.messages) == (0, "")
    table, modes = ran.output.split("\n\n")
    rows = {line.split()[0]: line for line in table.splitlines()[3:]}
    assert list(rows) == list(system_names())
    for name, row in rows.items():
        assert row.endswith(f"  {', '.join((*bp.load_system(name).calibrations, 'pooled'))}")
    assert " ".join(modes.split()) == (
        "Every system takes the mode peak-only, and calibrated with each calibration listed, the default one first; "
        "system-evidence: a100_80g, h100_80g_nvl8. "
        "The default mode is calibrated, but system-evidence of a100_80g, h100_80g_nvl8."
    )
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


def test_a_system_says_what_it_lacks_for_a_mode_and_which_calibrations_price_it(run: Run) -> None:
    text = " ".join(run("show", "system", "b200").output.split())
    assert "modes peak-only, calibrated; system-evidence lacks matrix.efficiency, vector.efficiency" in text
    assert f"calibrations {', '.join((*bp.load_system('b200').calibrations, 'pooled'))} " in text


def test_a_system_that_nothing_prices_shows_no_calibrations(run: Run, tmp_path: Path) -> None:
    text = (profiles_folder() / "systems" / "mi300x_192g.toml").read_text(encoding="utf-8")
    profile = tmp_path / "mine.toml"
    profile.write_text("\n".join(line for line in text.splitlines() if not line.startswith("compute_units")))
    text = run("show", "system", profile).output
    assert "modes          peak-only; system-evidence lacks" in text
    assert "calibrations" not in text


def test_a_system_says_what_each_of_its_calibrations_prices(run: Run) -> None:
    text = run("show", "system", "a100_80g_sxm").output
    assert "\n  vllm-0.14    all gather, all reduce, attention, GEMM, reduce scatter\n" in text
    assert "\n  vidur        all reduce, point to point\n" in text
