"""`blueprint-nb calibrate`: parameter files and their errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from vidur_profiles import COMPUTE, write

from blueprint_nb.cost.calibration import CalibrationSet

from .conftest import Run

BANDWIDTH_BYTES_PER_MS = 1.5e9
PEAK_PER_MS = 2.4e11


def row(tokens: int, hidden: int, inner: int) -> dict[str, Any]:
    """Times of kernels that wait 2 µs and then run at a bandwidth or a rate."""
    moved = {
        "input_layernorm": 4 * hidden,
        "post_attention_layernorm": 4 * hidden,
        "add": 6 * hidden,
        "mlp_act": 6 * inner,
    }
    products = {"attn_pre_proj": 3 * hidden * hidden, "mlp_down_proj": inner * hidden}
    times = {name: 0.002 + tokens * size / BANDWIDTH_BYTES_PER_MS for name, size in moved.items()}
    for name, weights in products.items():
        times[name] = 0.004 + max(2 * weights / BANDWIDTH_BYTES_PER_MS, 2 * tokens * weights / PEAK_PER_MS)
    key = {**COMPUTE, "n_embd": hidden, "n_expanded_embd": inner, "num_tokens": tokens}
    return {**key, **{f"time_stats.{name}.median": ms for name, ms in times.items()}}


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    root = tmp_path / "profiling"
    for model, hidden, inner in (("one", 4096, 11_008), ("two", 2048, 8192)):
        folder = root / "compute" / "a100" / model
        folder.mkdir(parents=True)
        write(folder / "mlp.csv", [row(2**octave, hidden, inner) for octave in range(13)])
    return root


def test_a_parameter_file_is_written_for_each_device_and_its_errors_are_printed(
    run: Run, profiles: Path, tmp_path: Path
) -> None:
    ran = run("calibrate", "--vidur", profiles, "--revision", "made up", "--output", tmp_path / "sets")
    assert ran.status == 0
    path = tmp_path / "sets" / "a100_80g_pcie" / "vidur.json"
    assert ran.output.splitlines()[0] == "vidur for a100_80g_pcie, a100_80g: error of single kernels in %"
    assert ran.output.splitlines()[-1] == str(path)
    found = CalibrationSet(**json.loads(path.read_text(encoding="utf-8")))
    assert (found.target, found.source, found.source_revision) == ("a100", "vidur", "made up")
    assert found.systems == ("a100_80g_pcie", "a100_80g")
    assert sorted(found.families) == ["add", "gated_activation", "gemm", "rms_norm"]
    for fitted in found.families.values():
        assert fitted.in_sample.balanced_mape_percent < 12
        assert fitted.held_out["leave-one-model-out, shared shapes purged"].rows > 0
    assert found.families["gemm"].ranges["m"] == (1, 4096)


def test_the_same_observations_give_the_same_file(run: Run, profiles: Path, tmp_path: Path) -> None:
    written = []
    for name in ("first", "second"):
        assert run("calibrate", "--vidur", profiles, "--output", tmp_path / name).status == 0
        written.append((tmp_path / name / "a100_80g_pcie" / "vidur.json").read_bytes())
    assert written[0] == written[1]


def test_one_device_can_be_fitted_alone(run: Run, profiles: Path, tmp_path: Path) -> None:
    ran = run("calibrate", "--vidur", profiles, "--target", "a40", "--output", tmp_path / "sets")
    assert ran.status == 2
    assert ran.messages == "Error: target must be a100 (got 'a40'); did you mean a100?\n"


def test_measurements_have_to_be_named(run: Run) -> None:
    ran = run("calibrate")
    assert ran.status == 2
    assert ran.messages == (
        "Error: no measurements given. Name --vidur FOLDER, --aiconfigurator, or both; "
        "see `blueprint-nb calibrate --help`.\n"
    )


def test_one_set_for_any_device_is_of_all_of_them(run: Run, profiles: Path) -> None:
    ran = run("calibrate", "--vidur", profiles, "--pooled", "--target", "a100")
    assert ran.status == 2
    assert ran.messages == (
        "Error: --pooled and --target exclude each other: that set is of all devices; "
        "see `blueprint-nb calibrate --help`.\n"
    )


def test_one_set_for_any_device_can_be_fitted(run: Run, profiles: Path, tmp_path: Path) -> None:
    ran = run("calibrate", "--vidur", profiles, "--pooled", "--output", tmp_path)
    assert ran.status == 0
    assert ran.output.splitlines()[0] == "pooled for any device: error of single kernels in %"
    found = CalibrationSet(**json.loads((tmp_path / "pooled.json").read_text(encoding="utf-8")))
    assert (found.target, found.systems, found.machine) == ("", (), None)
    assert sorted(found.families) == ["add", "gated_activation", "gemm", "rms_norm"]


def test_a_folder_without_profiles_is_said(run: Run, tmp_path: Path) -> None:
    ran = run("calibrate", "--vidur", tmp_path)
    assert ran.status == 2
    assert ran.messages.startswith(f"Error: {tmp_path} holds no")
