"""`blueprint-nb sweep`: files hold exactly what `bp.sweep` gives; the table shows it with units and reasons."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import blueprint_nb as bp
from blueprint_nb import catalog
from blueprint_nb.cli.options import DEFAULT_SYSTEM
from blueprint_nb.cli.sweep_text import components_text
from blueprint_nb.units import three_digits

from .conftest import Run

REFERENCE = ["sweep", "--system", "h100_80g_nvl8"]
"""On a preset whose figures the reference model defines."""

LINE = "sweep --tp 1,3,8 --pp 1,2 --batch 1,64 --context 1024:4096:1536"
AXES: dict[str, Any] = {
    "tensor_parallel": [1, 3, 8],
    "pipeline_parallel": [1, 2],
    "batch_size": [1, 64],
    "context_tokens": [1024, 2560, 4096],
}


def swept(**more: Any) -> pl.DataFrame:
    return bp.sweep("llama-3.1-8b", DEFAULT_SYSTEM, **{**AXES, **more})


@pytest.mark.parametrize("by_component", [False, True])
def test_parquet_reads_back_as_the_sweep(run: Run, tmp_path: Path, by_component: bool) -> None:
    path = tmp_path / "sweep.parquet"
    ran = run(*LINE.split(), "--output", path, *(["--by-component"] if by_component else []))
    expected = swept(by_component=by_component)
    assert (ran.status, ran.output) == (0, f"{expected.height:,} rows in {path}\n")
    assert_frame_equal(pl.read_parquet(path), expected, check_exact=True)


@pytest.mark.parametrize("by_component", [False, True])
def test_csv_reads_back_as_the_sweep_to_the_last_digit(run: Run, tmp_path: Path, by_component: bool) -> None:
    path = tmp_path / "sweep.csv"
    ran = run(*LINE.split(), "--output", path, *(["--by-component"] if by_component else []))
    expected = swept(by_component=by_component)
    assert ran.status == 0
    assert_frame_equal(pl.read_csv(path, schema=expected.schema), expected, check_exact=True)


def test_every_option_reaches_the_sweep(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "sweep.parquet"
    line = (
        "sweep --model llama-3.1-70b --system a100_80g --tp 4 --pp 2 --batch 3 --context 700 --phase prefill "
        "--datatype float16 --mode peak-only --attention unfused --tp-network 1 --pp-network 1"
    )
    assert run(*line.split(), "--output", path).status == 0
    expected = bp.sweep(
        "llama-3.1-70b",
        "a100_80g",
        tensor_parallel=4,
        pipeline_parallel=2,
        batch_size=3,
        context_tokens=700,
        phase="prefill",
        mode="peak-only",
        attention="unfused",
        tensor_parallel_network=1,
        pipeline_parallel_network=1,
    )
    assert_frame_equal(pl.read_parquet(path), expected, check_exact=True)


def test_a_sweep_that_fails_while_writing_keeps_the_old_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half_a_file(frame: pl.DataFrame, file: Any) -> None:
        file.write(b"half")
        raise pl.exceptions.ComputeError("No space left on device")

    monkeypatch.setitem(importlib.import_module("blueprint_nb.cli.sweep").WRITERS, ".csv", half_a_file)
    path = tmp_path / "sweep.csv"
    path.write_text("old")
    ran = run("sweep", "--output", path)
    assert (ran.status, ran.output) == (2, "")
    assert ran.messages == (f"Error: --output {path} can't be written: no space left on device; name another file.\n")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_table_shows_every_point_with_units_and_reasons(run: Run) -> None:
    ran = run(*REFERENCE, *["--tp", "1,3", "--batch", "1,1024", "--context", "1024,200000"])
    assert ran.status == 0
    assert (
        ran.output
        == """\
llama-3.1-8b on h100_80g_nvl8 · decode step · float16 · system-evidence
TP  PP  batch  context  devices   step  tokens/s      memory    KV cache  fits
                tokens              ms            GiB/device  GiB/device
───────────────────────────────────────────────────────────────────────────────────
 1   1      1    1,024        1   5.85       171        15.1       0.125  yes
 1   1      1  200,000        –   –            –         –         –            [1]
 1   1  1,024    1,024        1  77.8     13,166       143       128      no
 1   1  1,024  200,000        –   –            –         –         –            [1]
 3   1      1    1,024        –   –            –         –         –            [2]
 3   1      1  200,000        –   –            –         –         –            [2]
 3   1  1,024    1,024        –   –            –         –         –            [2]
 3   1  1,024  200,000        –   –            –         –         –            [2]

[1] --context must be at most the sequence length of llama-3.1-8b, 131,072 tokens
[2] --tp must divide the 32 attention heads. Got 3. Legal up to 64: 1, 2, 4, 8, 16, 32.
"""
    )
    assert ran.messages == (
        "Warning: 1 of 8 points do not fit in the 80.0 GiB usable per device.\n"
        "Warning: 6 of 8 points can't be run; the reasons are given.\n"
    )


def test_a_sweep_in_which_all_is_well_says_nothing_on_standard_error(run: Run) -> None:
    ran = run("sweep")
    assert (ran.status, ran.messages) == (0, "")
    assert len(ran.output.splitlines()) == 4 + 16


def test_shares_of_a_points_components_make_it_whole(run: Run) -> None:
    ran = run(*REFERENCE, *["--tp", "8", "--batch", "8", "--context", "1024", "--by-component"])
    rows = [line.split() for line in ran.output.splitlines()[7:]]
    assert "TP 8 · PP 1 · batch 8 · context 1,024 · 1.78 ms" in ran.output.splitlines()
    assert {row[0] for row in rows} >= {"qkv_projection", "attention_core", "mlp_all_reduce", "lm_head"}
    assert sum(float(row[2]) for row in rows) == pytest.approx(100, abs=1)
    assert max(len(line) for line in ran.output.splitlines()) <= 100


def test_a_component_table_says_once_why_a_point_has_none(run: Run) -> None:
    ran = run(*["sweep", "--tp", "3", "--batch", "8", "--context", "1024", "--by-component"])
    assert ran.status == 0
    assert "TP 3 · PP 1 · batch 8 · context 1,024 · --tp must divide the 32 attention heads. Got 3." in ran.output


def test_a_prefill_counts_prompt_tokens(run: Run) -> None:
    ran = run(*["sweep", "--phase", "prefill", "--tp", "1", "--batch", "2", "--context", "1000"])
    seconds = bp.sweep("llama-3.1-8b", DEFAULT_SYSTEM, batch_size=2, context_tokens=1000, phase="prefill")["seconds"][0]
    names, units = (line.split() for line in ran.output.splitlines()[1:3])
    assert "prompt" in names
    assert "tokens/s" in units
    assert f"{2 * 1000 / seconds:,.0f}" in ran.output.split()


def test_a_prefill_of_long_prompts_fits_a_terminal(run: Run) -> None:
    ran = run(*["sweep", "--phase", "prefill", "--context", "4096,131072"])
    assert max(len(line) for line in ran.output.splitlines()) <= 100


def test_rows_that_are_cut_are_told_of(run: Run) -> None:
    ran = run(*["sweep", "--tp", "1", "--batch", "1", "--context", "1:600", "--mode", "peak-only"])
    assert ran.messages == "Note: the first 500 of 600 rows are shown; --output FILE.csv writes them all.\n"
    assert len(ran.output.splitlines()) == 4 + 500


def test_time_that_falls_as_context_grows_is_told_of(run: Run) -> None:
    ran = run(*REFERENCE, *["--tp", "1", "--batch", "8", "--context", "300:304"])
    assert ran.status == 0
    assert ran.messages == (
        "Note: time falls at 1 point though batch or context grows, first at TP 1, PP 1, batch 8, context 302: "
        "a step of the cost mode's efficiency curve, not a behaviour of the machine.\n"
    )


CALIBRATED = ["sweep", "--tp", "1,2", "--batch", "1,8", "--context", "1024"]


def test_the_default_is_calibrated_and_shows_the_sweeps_steps_and_bands(run: Run) -> None:
    head, names, units, _, *rows = run(*CALIBRATED).output.splitlines()
    best, *others = (*bp.load_system(DEFAULT_SYSTEM).calibrations, "pooled")
    order = (best, ", ".join(others))
    points = bp.sweep(
        "llama-3.1-8b",
        DEFAULT_SYSTEM,
        tensor_parallel=[1, 2],
        pipeline_parallel=1,
        batch_size=[1, 8],
        context_tokens=1024,
    )
    columns = points.select("seconds", "low_seconds", "high_seconds").iter_rows()
    cells = [[three_digits(1e3 * seconds) for seconds in row] for row in columns]
    assert head == f"llama-3.1-8b on {DEFAULT_SYSTEM} · decode step · float16 · calibrated by {', else '.join(order)}"
    assert "step  90 % band  tokens/s" in names
    assert units.split()[:3] == ["tokens", "ms", "ms"]
    assert [row.split()[5:7] for row in rows] == [[step, f"{low}–{high}"] for step, low, high in cells]


def test_another_mode_reads_no_parameters(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_read_calibration", lambda path: pytest.fail(f"{path} was read"))
    assert run(*CALIBRATED, "--mode", "peak-only").status == 0
    assert run(*REFERENCE).status == 0


def test_a_calibration_that_is_named_implies_the_mode_it_belongs_to(run: Run) -> None:
    ran = run("sweep", "--system", "a100_80g", "--calibration", "vidur", "--tp", "1")
    assert (ran.status, ran.messages) == (0, "")
    assert " · calibrated by vidur, else pooled" in ran.output.splitlines()[0]


def test_a_calibrated_table_says_by_what_and_shows_each_band_about_its_step(run: Run) -> None:
    ran = run(*CALIBRATED, "--calibration", "vidur")
    head, names, _, _, *rows = ran.output.splitlines()
    assert (ran.status, ran.messages) == (0, "")
    assert head == "llama-3.1-8b on h100_80g_sxm · decode step · float16 · calibrated by vidur, else vllm-0.24, pooled"
    assert "step  90 % band  tokens/s" in names
    assert len(rows) == 4
    for row in rows:
        step, band = row.split()[5:7]
        low, high = band.split("–")
        assert float(low) < float(step) < float(high)
    assert max(len(line) for line in ran.output.splitlines()) <= 100


def test_a_calibrated_component_table_has_bands_and_fits_a_terminal(run: Run) -> None:
    ran = run(*CALIBRATED, "--by-component")
    assert (
        ran.output.splitlines()[1] == "times: executions in the step · share: of the step · all else: of one execution"
    )
    assert "90 % band" in ran.output.splitlines()[2]
    assert " floor " in ran.output
    assert max(len(line) for line in ran.output.splitlines()) <= 100


@pytest.mark.parametrize("by_component", [False, True])
def test_bands_reach_the_file(run: Run, tmp_path: Path, by_component: bool) -> None:
    path = tmp_path / "sweep.csv"
    assert run(*CALIBRATED, "--output", path, *(["--by-component"] if by_component else [])).status == 0
    frame = pl.read_csv(path)
    assert frame.filter(pl.col("seconds").is_between("low_seconds", "high_seconds")).height == frame.height > 0


def test_a_component_table_has_time_and_work_of_one_execution(run: Run) -> None:
    point = {"tensor_parallel": 2, "batch_size": 8, "context_tokens": 1024}
    ran = run(*["sweep", "--tp", "2", "--batch", "8", "--context", "1024", "--by-component"])
    frame = bp.sweep("llama-3.1-8b", DEFAULT_SYSTEM, **point, by_component=True)
    total = (frame["seconds"] * frame["count"]).sum()
    names, units = (line.split() for line in ran.output.splitlines()[2:4])
    assert names == ["component", "times", "share", "bound", "each", "90", "%", "band", "work", "traffic", "message"]
    assert units == ["%", "µs", "µs", "MFLOP", "MB", "kB"]
    lines = {line.split()[0]: line.split() for line in ran.output.splitlines()[6:]}
    for row in frame.iter_rows(named=True):
        _, times, share, bound, each, band, work, traffic, message = lines[row["component"]]
        assert (int(times), bound) == (row["count"], row["bound"])
        assert share == f"{100 * row['seconds'] * row['count'] / total:.1f}"
        assert each == three_digits(1e6 * row["seconds"])
        assert band == f"{three_digits(1e6 * row['low_seconds'])}–{three_digits(1e6 * row['high_seconds'])}"
        assert work == three_digits(row["operations"] / 1e6)
        assert traffic == three_digits((row["read_bytes"] + row["write_bytes"]) / 1e6)
        assert message == three_digits(row["message_bytes"] / 1e3)


def test_components_that_take_no_time_have_no_share() -> None:
    names = bp.sweep("llama-3.1-8b", DEFAULT_SYSTEM, by_component=True)["component"]
    frame = bp.sweep("llama-3.1-8b", DEFAULT_SYSTEM, by_component=True, asserted=dict.fromkeys(names, 0.0))
    rows = [line.split() for line in components_text(frame).splitlines()[6:]]
    assert {row[2] for row in rows} == {"–"}
    assert "nan" not in components_text(frame).lower()
