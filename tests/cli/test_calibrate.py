"""`blueprint-nb calibrate`: parameter files and their errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from vidur_profiles import COMPUTE, write

from blueprint_nb.cli.calibrate import Place
from blueprint_nb.cost.calibration import CalibrationSet
from blueprint_nb.errors import OutputError, shown

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
    assert ran.messages == "Error: --target must be a100 (got 'a40'); did you mean a100?\n"


def test_the_help_says_what_a_device_alone_leaves_out_of_its_bands(run: Run) -> None:
    said = " ".join(run("calibrate", "--help").output.split())
    assert "Only this device, as its source names it; its bands then hear of no other." in said


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


@pytest.fixture
def unfitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever fits fails."""

    def fit(*_: object) -> None:
        raise AssertionError("fitted before it was known whether the result can be written")

    monkeypatch.setattr("blueprint_nb.calibration.run.calibrate", fit)
    monkeypatch.setattr("blueprint_nb.calibration.pooled_set.pooled_set", fit)


@pytest.mark.usefixtures("unfitted")
@pytest.mark.parametrize("pooled", [[], ["--pooled"]])
def test_a_file_in_place_of_the_folder_is_refused_before_fitting(
    run: Run, profiles: Path, tmp_path: Path, pooled: list[str]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    ran = run("calibrate", "--vidur", profiles, *pooled, "--output", path)
    folder = path if pooled else path / "a100_80g_pcie"
    assert (ran.status, ran.output) == (2, "")
    assert ran.messages == (f"Error: --output {folder} can't be made: {path} is not a folder; name another folder.\n")
    assert path.read_bytes() == b"old"


@pytest.mark.usefixtures("unfitted")
def test_a_file_named_like_a_system_is_refused_before_fitting(run: Run, profiles: Path, tmp_path: Path) -> None:
    path = tmp_path / "a100_80g_pcie"
    path.write_bytes(b"old")
    ran = run("calibrate", "--vidur", profiles, "--output", tmp_path)
    assert ran.status == 2
    assert ran.messages == f"Error: --output {path} can't be made: {path} is not a folder; name another folder.\n"


@pytest.mark.usefixtures("unfitted")
@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="a Linux /proc")
@pytest.mark.parametrize(
    ("output", "reason"),
    [("/dev/null", "/dev/null is not a folder"), ("/proc/x", "no such file or directory")],
)
def test_what_can_hold_no_folder_is_refused_before_fitting(run: Run, profiles: Path, output: str, reason: str) -> None:
    ran = run("calibrate", "--vidur", profiles, "--output", output)
    assert ran.status == 2
    assert ran.messages == (f"Error: --output {output}/a100_80g_pcie can't be made: {reason}; name another folder.\n")


@pytest.mark.usefixtures("unfitted")
def test_a_folder_in_place_of_the_file_is_refused_before_fitting(run: Run, profiles: Path, tmp_path: Path) -> None:
    path = tmp_path / "a100_80g_pcie" / "mine.json"
    path.mkdir(parents=True)
    ran = run("calibrate", "--vidur", profiles, "--output", tmp_path, "--name", "mine")
    assert ran.status == 2
    assert ran.messages == f"Error: --output {path} can't be written: it is a folder; name a file.\n"


def test_an_output_that_names_no_folder_is_refused(run: Run, profiles: Path) -> None:
    ran = run("calibrate", "--vidur", profiles, "--output", "")
    assert ran.status == 2
    assert ran.messages == "Error: --output '' can't be written: it names no folder; name a folder.\n"


@pytest.mark.parametrize("name", ["", " ", ".", "..", "a/b", "../a", "/a", "a\\b", "a\nb", "x" * 201])
def test_a_name_that_is_not_plain_is_refused(run: Run, profiles: Path, name: str) -> None:
    ran = run("calibrate", "--vidur", profiles, "--name", name)
    assert ran.status == 2
    assert ran.messages == (
        "Error: --name must be a plain name: 1 to 200 printable characters, no slashes, not . or .. "
        f"(got {shown(name)}); write one such as mine; --output names the folder.\n"
    )


def test_two_sets_of_one_file_are_refused(tmp_path: Path) -> None:
    place = Place(tmp_path, "mine")
    with pytest.raises(OutputError) as caught:
        place.prepare([("h100_80g_sxm", "vidur"), ("h100_80g_sxm", "vllm-0.24")])
    assert str(caught.value) == (
        f"{tmp_path / 'h100_80g_sxm' / 'mine.json'} can't be written: it would be of two sets. "
        "Leave --name out, or take one source at a time."
    )
    assert not list(tmp_path.iterdir())


def test_a_name_is_the_files(run: Run, profiles: Path, tmp_path: Path) -> None:
    path = tmp_path / "new" / "sets" / "a100_80g_pcie" / "mine.json"
    ran = run("calibrate", "--vidur", profiles, "--output", tmp_path / "new" / "sets", "--name", "mine")
    assert (ran.status, ran.messages) == (0, "")
    assert list(path.parent.iterdir()) == [path]
    assert json.loads(path.read_text(encoding="utf-8"))["name"] == "mine"
