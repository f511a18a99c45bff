"""`blueprint-nb validate`: tables of what was never seen, recorded figures without data, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from vidur_profiles import COMPUTE, write

from blueprint_nb.calibration import validate_recorded
from blueprint_nb.cost.calibration import CalibrationSet, ErrorFigures, FamilyFit, OctaveResiduals

from .conftest import Run

BYTES_PER_MS = 1.5e9


def row(tokens: int, hidden: int) -> dict[str, Any]:
    """Times of norms and adds that wait 2 µs and then run at a bandwidth."""
    moved = {"input_layernorm": 4, "post_attention_layernorm": 4, "add": 6}
    times = {f"time_stats.{name}.median": 0.002 + tokens * size * hidden / BYTES_PER_MS for name, size in moved.items()}
    return {**COMPUTE, "n_embd": hidden, "n_expanded_embd": 2 * hidden, "num_tokens": tokens, **times}


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    """Two models on an A100."""
    root = tmp_path / "profiling"
    for model, hidden in (("one", 4096), ("two", 2048)):
        folder = root / "compute" / "a100" / model
        folder.mkdir(parents=True)
        write(folder / "mlp.csv", [row(2**octave, hidden) for octave in range(13)])
    return root


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> CalibrationSet:
    """The one set that ships: adds of 11 % held out, with a band up to 1.1 times the estimate, and as many times down."""
    figures = {"rows": 100, "mape_percent": 5, "balanced_mape_percent": 6, "p90_percent": 7, "max_percent": 8}
    fit = FamilyFit(
        values={"floor_seconds": 2e-6},
        ranges={"rows": (1, 4096)},
        datatypes=("float16",),
        observations_digest="",
        in_sample=ErrorFigures(**figures),
        held_out={"a model": ErrorFigures(**{**figures, "mape_percent": 11})},
        residuals=(OctaveResiduals(octave=3, rows=10, size=8, middle=0.0, reach=0.095310180),),
        coverage_percent=87.5,
    )
    one = CalibrationSet(
        name="mine",
        target="a100",
        systems=("a100_80g_pcie",),
        source="vidur",
        source_revision="made up",
        software="vidur",
        software_version="",
        seed=1,
        optimiser="none",
        families={"add": fit},
    )
    monkeypatch.setattr(validate_recorded, "recorded_sets", lambda: [one])
    return one


@pytest.mark.usefixtures("recorded")
def test_without_measurements_the_recorded_figures_are_printed_and_it_is_said(run: Run) -> None:
    ran = run("validate")
    assert ran.status == 0
    assert ran.messages == "Note: no measurements given; these are the figures recorded in the parameter files.\n"
    assert ran.output == (
        "mine for a100_80g_pcie: error in %\n"
        "family                rows   MAPE  balanced   P90   max\n"
        "───────────────────────────────────────────────────────\n"
        "add     in sample      100   5.00      6.00  7.00  8.00\n"
        "        held out [1]   100  11.0       6.00  7.00  8.00\n"
        "[1] a model\n"
        "Fitted to vidur made up.\n"
        "\n"
        "90 % band  width in %  held in %\n"
        "────────────────────────────────\n"
        "add              19.1       87.5\n"
        "\n"
        "Errors are |estimate / measured − 1|, each row counted alone. Balanced: over octaves of size and\n"
        "components, each counting the same. Max: of rows that are more than 1 µs off. Width: of the band,\n"
        "over the estimate, row by row. Held: of rows that were left out together, by the band that all\n"
        "others would have made.\n"
    )


@pytest.mark.usefixtures("recorded")
def test_recorded_figures_as_json(run: Run) -> None:
    found = json.loads(run("validate", "--json").output)
    assert found["source"] == "parameter files"
    assert [(row["split"], row["mape_percent"]) for row in found["errors"]] == [("in sample", 5), ("a model", 11)]
    (octave,) = found["octaves"]
    assert (octave["octave"], octave["low_percent"], octave["high_percent"]) == (
        3,
        pytest.approx(100 / 1.1),
        pytest.approx(110),
    )
    assert found["bands"][0]["width_percent"] == pytest.approx(110 - 100 / 1.1)
    assert found["bands"][0]["covered_percent"] == 87.5


def test_the_figures_of_every_set_that_ships_are_printed(run: Run) -> None:
    ran = run("validate")
    assert ran.status == 0
    assert max(map(len, ran.output.splitlines())) <= 100


def test_with_measurements_every_predictor_is_asked_about_what_it_never_saw(run: Run, profiles: Path) -> None:
    ran = run("validate", "--vidur", profiles, "--no-trees")
    assert ran.status == 0
    lines = ran.output.splitlines()
    assert "leave-one-model-out, shared shapes purged: error in %" in lines
    assert "Rows are of 1 to 4,096 tokens; of more they say nothing." in " ".join(ran.output.split())
    assert any(line.startswith("a100  calibrated ") for line in lines)
    for name in ("peak roofline", "constant efficiency", "step curves", "90 % bands of calibrated"):
        assert any(name in line for line in lines)
    assert "boosted trees" not in ran.output
    assert max(map(len, lines)) <= 100


def test_what_a_layer_changes_stands_beside_what_it_was_before(run: Run, profiles: Path) -> None:
    """Gated activations of two models of nearly one width."""
    for model, hidden in (("one", 4096), ("two", 4224)):
        act = [{"time_stats.mlp_act.median": 0.003 + 2**octave * hidden / BYTES_PER_MS} for octave in range(13)]
        rows = [{**row(2**octave, hidden), **times} for octave, times in enumerate(act)]
        write(profiles / "compute" / "a100" / model / "mlp.csv", rows)
    lines = run("validate", "--vidur", profiles, "--no-trees").output.splitlines()
    title = lines.index("leave-one-model-out, shared shapes purged: MAPE in % with a learned residual layer")
    assert lines[title + 1].split() == ["GPU", "family", "calibrated", "learned", "residual"]
    assert [line.split()[-3] for line in lines[title + 3 : title + 5]] == ["all", "gated_activation"]
    assert lines[title + 5].startswith("It learns from the same rows")
    assert max(map(len, lines)) <= 100


def test_figures_are_written_to_a_file_and_a_family_chosen(run: Run, profiles: Path, tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    ran = run("validate", "--vidur", profiles, "--no-trees", "--family", "add", "--json", "--output", path)
    assert (ran.status, ran.output) == (0, f"{path}\n")
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["source"] == "measurements"
    assert {row["family"] for row in written["errors"]} == {"all", "add"}
    assert {row["rows"] for row in written["errors"]} == {26}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "a100"], "--target selects from measurements, and none are given. Name --vidur FOLDER"),
        (["--no-trees"], "--no-trees selects from measurements, and none are given. Name --vidur FOLDER"),
    ],
)
def test_a_selection_without_measurements_is_refused(run: Run, arguments: list[str], message: str) -> None:
    ran = run("validate", *arguments)
    assert ran.status == 2
    assert ran.messages == f"Error: {message[:1]}{message[1:]}; see `blueprint-nb validate --help`.\n"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--target", "a10", "Error: --target must be a100 (got 'a10'); did you mean a100?\n"),
        ("--family", "adds", "Error: --family must be add or rms_norm (got 'adds'); did you mean add?\n"),
    ],
)
def test_what_was_not_measured_is_named(run: Run, profiles: Path, option: str, value: str, message: str) -> None:
    ran = run("validate", "--vidur", profiles, option, value)
    assert (ran.status, ran.messages) == (2, message)


def test_a_folder_without_profiles_is_said(run: Run, tmp_path: Path) -> None:
    ran = run("validate", "--vidur", tmp_path)
    assert ran.status == 2
    assert ran.messages.startswith(f"Error: {tmp_path} holds no")


@pytest.mark.parametrize("measured", [True, False])
def test_where_nothing_can_be_written_is_refused_before_fitting(
    run: Run, profiles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: bool
) -> None:
    def fit(*_: object, **__: object) -> None:
        raise AssertionError("fitted before it was known whether the result can be written")

    monkeypatch.setattr("blueprint_nb.calibration.validate.validate", fit)
    monkeypatch.setattr(validate_recorded, "recorded_sets", fit)
    missing = tmp_path / "missing"
    for output, message in (
        (missing / "figures", f"no such file or directory; make the folder {missing} first"),
        (tmp_path, "it is a folder; name a file"),
        ("/dev/null", "it is not a regular file; name a file"),
        ("", "it names no file; name a file"),
    ):
        ran = run("validate", *(["--vidur", profiles] if measured else []), "--output", output)
        assert (ran.status, ran.output) == (2, "")
        named = output or "''"
        assert ran.messages == f"Error: --output {named} can't be written: {message}.\n"
    assert not missing.exists()


def test_an_old_file_stays_where_a_mistake_ends_it(run: Run, profiles: Path, tmp_path: Path) -> None:
    path = tmp_path / "figures"
    path.write_bytes(b"old")
    assert run("validate", "--vidur", profiles, "--family", "adds", "--output", path).status == 2
    assert path.read_bytes() == b"old"
    assert not list(tmp_path.glob(".blueprint-nb-*"))
