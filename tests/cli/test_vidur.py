"""`blueprint-nb vidur`: error tables as text, everything as JSON, a page as HTML; nothing covered is a result."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from blueprint_nb.analysis import load_slice
from blueprint_nb.catalog import load_model, load_system, profiles_folder
from blueprint_nb.cost import ANALYTICAL_MODES
from blueprint_nb.mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from blueprint_nb.validation import VidurExperimentCase, pricing, run_vidur_experiment

from .conftest import Ran, Run

SLICE = profiles_folder() / "vidur" / "phi2_a100_tp1"
ATTENTION, COMPUTE = SLICE / "attention.csv", SLICE / "mlp.csv"
REVISION = "8fe74184779e91b4b209b7c10fa50797802680c9a462e6f0a4dea1aad31f17bb"

DEFAULT = Path(__file__).with_name("vidur.txt").read_text(encoding="utf-8")


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out what is calibrated, whose figures move with every fit."""
    monkeypatch.setattr(pricing, "modes_of", lambda _: ANALYTICAL_MODES)


@pytest.mark.usefixtures("pinned")
def test_the_default_compares_the_slice_that_ships_component_by_component(run: Run) -> None:
    ran = run("vidur")
    assert (ran.status, ran.messages) == (0, "")
    assert ran.output == DEFAULT
    assert max(len(line) for line in ran.output.splitlines()) <= 100


def test_json_is_the_report_alone(run: Run) -> None:
    ran = run("vidur", "--json")
    assert (ran.status, ran.messages) == (0, "")
    cases = [
        VidurExperimentCase(
            name=f"decode b1 c{context}",
            model=load_model("phi-2-dense-mha"),
            mapping=TransformerInferenceMappingSpec(),
            network_binding=NetworkTierBinding(),
            datatype="float16",
            hardware=load_system("a100_80g"),
            phase="decode",
            batch_size=1,
            context_tokens=context,
        )
        for context in (33, 129)
    ]
    assert ran.output == run_vidur_experiment(cases, load_slice()).to_json() + "\n"


def test_what_is_calibrated_has_a_table_of_its_bands(run: Run) -> None:
    ran = run("vidur", "--context", "33")
    assert (ran.status, ran.messages) == (0, "")
    assert max(len(line) for line in ran.output.splitlines()) <= 100
    lines = ran.output.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("calibrated  "))
    assert lines[start].split("  ")[0] == "calibrated"
    assert lines[start].split()[1:] == ["measured", "90", "%", "band", "within", "parameters"]
    rows = lines[start + 2 : start + 14]
    assert sum("  yes  " in line or "  no  " in line for line in rows) == 9
    counted = sum("  yes  " in line for line in rows)
    assert f"{counted} of 9, {round(100 * counted / 9)} %" in ran.output
    assert f"measured within the 90 % band: {counted} of 9 components" in " ".join(ran.output.split())


def test_parameters_are_chosen_by_their_name(run: Run) -> None:
    content = as_json(run("vidur", "--json", "--context", "33", "--calibration", "pooled"))
    assert [one["name"] for one in content["calibrations"]] == ["pooled"]
    ran = run("vidur", "--calibration", "vidu")
    assert (ran.status, ran.output) == (2, "")
    assert "calibration must be pooled or vidur" in ran.messages


@pytest.mark.usefixtures("pinned")
def test_a_page_is_written_as_well_and_its_path_printed_last(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "errors of mine.html"
    ran = run("vidur", "--html", path)
    assert (ran.status, ran.output, ran.messages) == (0, f"{DEFAULT}{path}\n", "")
    assert path.read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_beside_json_the_path_of_a_page_is_a_message(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "errors.html"
    ran = run("vidur", "--json", "--html", path)
    assert (ran.status, ran.messages) == (0, f"Note: {path} is written.\n")
    assert json.loads(ran.output)["baseline"]["revision"] == REVISION
    assert path.exists()


def test_a_page_that_cannot_be_written_leaves_nothing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "no" / "errors.html"
    ran = run("vidur", "--html", path)
    assert (ran.status, ran.output) == (2, "")
    assert ran.messages == (
        f"Error: --html {path} can't be written: no such file or directory; make the folder {path.parent} first.\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_a_page_is_refused_with_the_pip_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    ran = run("vidur", "--html", "errors.html")
    assert (ran.status, ran.output) == (2, "")
    assert ran.messages.startswith("Error: report needs altair, which is not installed; run: pip install ")


def as_json(ran: Ran) -> Any:
    assert (ran.status, ran.messages) == (0, "")
    return json.loads(ran.output)


def test_batches_and_contexts_are_taken_as_a_product_each_once(run: Run) -> None:
    content = as_json(run("vidur", "--json", "--batch", "1,2,1", "--context", "33:35,33"))
    names = list(dict.fromkeys(case["case"] for case in content["cases"]))
    assert names == [f"decode b{batch} c{context}" for batch in (1, 2) for context in (33, 34, 35)]


def test_every_option_reaches_the_case(run: Run) -> None:
    line = (
        "--json --model llama-3.1-70b --system h100_80g_sxm --tp 4 --pp 2 --tp-network 0 --pp-network 1 --phase prefill"
    )
    case, _ = as_json(run("vidur", *line.split(), "--batch", "3", "--context", "50"))["cases"]
    assert (case["model"], case["hardware"], case["phase"]) == ("llama-3.1-70b", "h100_80g_sxm", "prefill")
    assert (case["tensor_parallel"], case["pipeline_parallel"]) == (4, 2)
    assert (case["batch_size"], case["context_tokens"], case["mode"]) == (3, 50, "peak-only")


@pytest.mark.usefixtures("pinned")
def test_a_file_is_taken_to_be_of_the_model_and_the_system_and_that_is_said(run: Run) -> None:
    ran = run("vidur", "--attention", ATTENTION, "--compute", COMPUTE)
    assert (ran.status, ran.messages) == (0, "")
    lines = ran.output.splitlines()
    assert lines[1:4] == [
        "Asserted by giving the files: measured with phi-2-dense-mha (--measured-model) on a100_80g",
        "(--measured-hardware). Looked up: FLASH_ATTENTION (--backend), blocks of 16 tokens (--block-size).",
        "Measured: phi-2-dense-mha on a100_80g (Vidur), attention FLASH_ATTENTION with blocks of 16 tokens;",
    ]
    assert "source revision unstated" in " ".join(lines)
    tables = DEFAULT[DEFAULT.index("\ncase ") :]
    assert ran.output.endswith(tables)


def test_an_identity_that_is_said_reaches_the_baseline(run: Run) -> None:
    said = "--measured-model microsoft/phi-2 --measured-hardware a100 --measured-network a100_dgx "
    said += f"--backend FLASH_ATTENTION --block-size 16 --source-revision {load_slice().identity.source_revision}"
    files = ["--attention", ATTENTION, "--compute", COMPUTE]
    content = as_json(run("vidur", "--json", *files, *said.split()))
    assert content["baseline"]["network_name"] == "a100_dgx"
    assert as_json(run("vidur", "--json", *files, *said.replace("a100_dgx", "a100").split()))["baseline"] == {
        **content["baseline"],
        "network_name": "a100",
        "revision": REVISION,
    }


def test_backend_and_block_size_are_said_of_an_attention_file_alone(run: Run) -> None:
    identity = as_json(run("vidur", "--json", "--compute", COMPUTE))["baseline"]
    assert (identity["attention_backend"], identity["block_size"]) == (None, None)
    assert "Looked up" not in run("vidur", "--compute", COMPUTE).output


def test_collectives_are_asserted_too(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "all_reduce.csv"
    path.write_text("size,num_workers,devices_per_node,time_stats.all_reduce.median\n10240000,2,2,0.1\n")
    ran = run("vidur", "--all-reduce", path, "--measured-network", "a100_80g_sxm", "--tp", "2", "--batch", "2000")
    assert ran.status == 0
    assert "collectives on a100_80g_sxm (--measured-network)." in " ".join(ran.output.split())
    assert "timed on a100_80g_sxm, whose network does not stand for that of a100_80g" in " ".join(ran.output.split())
    ran = run("vidur", "--all-reduce", path, "--tp", "2", "--batch", "2000", "--context", "33")
    row = next(line for line in ran.output.splitlines() if line.startswith("MLP all reduce"))
    assert row.split()[3:5] == ["100", "µs"]
    assert "Compared: 2 of 14 components, 14 %." in ran.output


NOTHING = [
    (
        "--model llama-2-7b",
        "Nothing is compared: other model, the profile is of microsoft/phi-2, not of llama-2-7b.",
    ),
    (
        "--model phi-2 --system h100_80g_nvl8",
        "Nothing is compared: other hardware, measured on a100, which does not stand for h100_80g_nvl8.",
    ),
    (
        "--model phi-2-dense-mha --system h100_80g_nvl8",
        "Nothing is compared: other hardware, measured on a100, which does not stand for h100_80g_nvl8; "
        "1 of 12 components for other reasons.",
    ),
]


@pytest.mark.parametrize(("line", "sentence"), NOTHING, ids=[line for line, _ in NOTHING])
def test_nothing_covered_is_a_result_that_says_why(run: Run, line: str, sentence: str) -> None:
    ran = run("vidur", "--context", "33", *line.split())
    assert (ran.status, ran.messages) == (0, "Note: nothing is compared.\n")
    assert sentence in " ".join(ran.output.split())
    assert "system-evidence: nothing of 1 case is compared." in ran.output
    content = as_json(run("vidur", "--json", "--context", "33", *line.split()))
    assert {case["subtotal_error_percent"] for case in content["cases"]} == {None}


def test_a_shell_of_keys_covers_nothing_and_names_the_columns_it_lacks(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "shell.csv"
    rows = list(csv.reader(COMPUTE.read_text().splitlines()))
    keys = [index for index, name in enumerate(rows[0]) if not name.startswith("time_stats")]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([row[index] for index in keys] for row in rows)
    ran = run("vidur", "--compute", path, "--context", "33")
    assert (ran.status, ran.messages) == (0, "Note: nothing is compared.\n")
    assert "Compared: 0" not in ran.output
    assert "[2] no column: shell.csv has no time_stats.attn_pre_proj.median\n" in ran.output
    assert "[4] no file: no attention profile was given\n" in ran.output


def test_a_flagged_measurement_is_said_to_be_one(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mlp.csv"
    path.write_text(COMPUTE.read_text().replace(",1,1,0.007,", ",1,1,9,"))
    ran = run("vidur", "--compute", path, "--context", "33")
    row = next(line for line in ran.output.splitlines() if line.startswith("Input norm"))
    assert row.split()[2:4] == ["9.00", "ms"]
    assert row.endswith("[1]")
    assert "[1] flagged, not counted: ruled out by physics: 9.00 ms for 20.5 kB is 900,000 times" in ran.output
    assert "flagged" in next(line for line in reversed(ran.output.splitlines()) if line.startswith("Input norm"))
    assert max(len(line) for line in ran.output.splitlines()) <= 100


def test_of_many_cases_the_means_come_first_and_what_is_left_out_is_said(run: Run) -> None:
    ran = run("vidur", "--context", "1:60")
    assert ran.status == 0
    assert ran.messages == (
        "Note: the first 40 of 60 cases are listed, the components of the first 4 shown; --json prints all.\n"
    )
    lines = ran.output.splitlines()
    first_table = lines.index(next(line for line in lines if line.startswith("case ")))
    assert any("system-evidence: subtotal MAPE" in line for line in lines[:first_table])
    assert sum(line.startswith("decode b1 c") for line in lines) == 40
    assert sum(line.startswith("Decode step at context") for line in lines) == 4
    assert len(as_json(run("vidur", "--context", "1:60", "--json"))["cases"]) == 3 * 60


def test_a_few_cases_are_all_listed(run: Run) -> None:
    ran = run("vidur", "--context", "1:5")
    assert ran.messages == "Note: the components of the first 4 of 5 cases are shown; --json prints all.\n"
    assert sum(line.startswith("decode b1 c") for line in ran.output.splitlines()) == 5


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--attention", "", "{path} is empty; "),
        ("--compute", "version https://git-lfs.github.com/spec/v1\n", "{path} is a Git LFS pointer, "),
        ("--all-reduce", "a,b\n1,2\n", "{path} has no"),
        ("--send-recv", "size,num_workers,devices_per_node\n1,x,2\n", "{path}, line 2, column num_workers must be "),
        (
            "--compute",
            "n_embd,num_tokens\n1,2\n3\n",
            "{path}, line 3 must have 2 cells, as the header does (got 1 cell)",
        ),
    ],
)
def test_a_bad_file_is_answered_by_one_sentence_with_its_place(
    run: Run, tmp_path: Path, option: str, text: str, message: str
) -> None:
    path = tmp_path / "profile.csv"
    path.write_text(text)
    ran = run("vidur", option, path)
    assert (ran.status, ran.output) == (2, "")
    assert ran.messages.startswith(f"Error: {message.format(path=path)}")
    assert ran.messages.count("\n") == 1


def test_block_size_is_named_by_its_option(run: Run) -> None:
    ran = run("vidur", "--attention", ATTENTION, "--block-size", "0")
    assert (ran.status, ran.output) == (2, "")
    assert ran.messages == (
        "Error: --block-size must be an integer from 1 to 1,000,000,000,000 (got 0); see `blueprint-nb vidur --help`.\n"
    )


def test_json_stays_json_whatever_a_profile_is_called(run: Run, tmp_path: Path) -> None:
    shipped = (profiles_folder() / "models" / "phi-2-dense-mha.toml").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(shipped.replace('"phi-2-dense-mha"', '"a\\u001b\\u202e\\u009b漢"', 1), encoding="utf-8")
    ran = run("vidur", "--json", "--model", path, "--compute", COMPUTE, "--context", "33")
    assert as_json(ran)["cases"][0]["model"] == "a\x1b\u202e\x9b漢"
    assert "漢" in ran.output
    assert ran.output[:-1].isprintable()


def test_a_whole_profile_of_vidurs_is_read_as_it_is(run: Run, vidur_data: Path) -> None:
    path = vidur_data / "profiling" / "compute" / "a100" / "meta-llama" / "Llama-2-7b-hf" / "mlp.csv"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    said = ["--model", "llama-2-7b", "--measured-hardware", "a100", "--tp", "2"]
    cases = as_json(run("vidur", "--json", "--compute", path, *said, "--context", "1024"))["cases"]
    assert [(case["mode"], case["matched_count"]) for case in cases] == [
        (mode, 9) for mode in ("peak-only", "system-evidence", "calibrated")
    ]
    assert {case["topology_equivalence"] for case in cases} == {"consistent-with-the-columns-of-the-compute-profile"}


def test_a_prefill_is_compared_at_the_prompt_that_the_slice_has(run: Run) -> None:
    ran = run("vidur", "--phase", "prefill")
    assert (ran.status, ran.messages) == (0, "")
    assert "Prefill of 128 tokens, batch 1, TP 1" in ran.output
