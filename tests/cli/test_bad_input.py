"""Bad input ends with status 2, one sentence on standard error, and nothing on standard output."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run

SENTENCES = [
    (
        "report --model llama-3-8b",
        "--model must be one of 16 known names (got 'llama-3-8b'); did you mean llama-3.1-8b, llama-2-7b or llama-3.1-70b?",
    ),
    ("report --model zzz", "--model must be one of 16 known names (got 'zzz'); see `blueprint-nb show models`."),
    ("report --tp 3", "--tp must divide the 32 attention heads (got 3); legal up to 64: 1, 2, 4, 8, 16, 32."),
    ("report --pp 3", "--pp must divide the 32 blocks (got 3); legal up to 64: 1, 2, 4, 8, 16, 32."),
    (
        "report --tp 16",
        "--tp must be at most 8, the ranks that network tier 0 (NVLink 4) of h100_80g_sxm reaches (got 16); "
        "use fewer ranks, or another --tp-network.",
    ),
    (
        "report --pp-network 2",
        "--pp-network must be a network tier of h100_80g_sxm (got 2); it has 0 (NVLink 4), 1 (NDR InfiniBand).",
    ),
    ("report --tp x", "--tp must be an integer (got 'x'); write it without separators or decimals, such as 4096."),
    ("report --tp 1_0", "--tp must be an integer (got '1_0'); write it without separators or decimals, such as 4096."),
    ("report --tp ٢", "--tp must be an integer (got '٢'); write it without separators or decimals, such as 4096."),
    (
        "report --prompt 2,048",
        "--prompt must be an integer (got '2,048'); write it without separators or decimals, such as 4096.",
    ),
    (
        "report --batch 0",
        "--batch must be an integer from 1 to 1,000,000,000,000 (got 0); see `blueprint-nb report --help`.",
    ),
    (
        "report --generated -5",
        "--generated must be an integer from 1 to 1,000,000,000,000 (got -5); see `blueprint-nb report --help`.",
    ),
    (
        "report --prompt 131072 --generated 2",
        "--prompt + --generated - 1 must be at most the sequence length of llama-3.1-8b, 131,072 tokens (got 131,073); "
        "shorten the prompt or the output.",
    ),
    (
        "report --mode x",
        "--mode must be calibrated, peak-only or system-evidence (got 'x'); see `blueprint-nb report --help`.",
    ),
    (
        "report --system h100_80g_nvl8 --calibration vidr",
        "--calibration must be pooled or vidur (got 'vidr'); did you mean vidur?",
    ),
    (
        "sweep --system mi300x_192g --calibration vidur",
        "--calibration must be pooled for mi300x_192g, which has no sets of its own (got 'vidur'); leave it out, or use "
        "--calibration pooled.",
    ),
    (
        "report --system h100_80g_nvl8 --mode system-evidence --calibration vidur",
        "--calibration belongs to --mode calibrated, not to 'system-evidence' (got 'vidur'); leave one of them out.",
    ),
    (
        "sweep --system b200 --mode peak-only --calibration pooled",
        "--calibration belongs to --mode calibrated, not to 'peak-only' (got 'pooled'); leave one of them out.",
    ),
    (
        "report --datatype fp8",
        "--datatype must be bfloat16, float16, float32 or float8 (got 'fp8'); did you mean float8?",
    ),
    (
        "report --datatype float17",
        "--datatype must be bfloat16, float16, float32 or float8 (got 'float17'); did you mean float16, bfloat16 or float8?",
    ),
    (
        "report --system b200 --mode system-evidence",
        "--mode needs efficiencies that nobody measured for b200: matrix.efficiency, vector.efficiency, memory.efficiency, "
        "network.0.efficiency_fraction, network.1.efficiency_fraction (got 'system-evidence'); "
        "use --mode peak-only, or a system with curves such as a100_80g or h100_80g_nvl8.",
    ),
    (
        "report --model no.toml",
        "no.toml can't be read: no such file or directory; check the path.",
    ),
    ("report --modle x", "there is no option --modle; did you mean --mode or --model?"),
    ("report --zzz", "there is no option --zzz; see `blueprint-nb report --help`."),
    ("report more", "got unexpected extra argument (more); see `blueprint-nb report --help`."),
    ("report --tp", "--tp needs a value; see `blueprint-nb report --help`."),
    ("swep", "there is no command swep; did you mean sweep?"),
    ("show model", "missing argument 'NAME'; see `blueprint-nb show model --help`."),
    (
        "show model nothing-like-it",
        "model must be one of 16 known names (got 'nothing-like-it'); see `blueprint-nb show models`.",
    ),
    (
        "show system h200_141g",
        "system must be one of 10 known names (got 'h200_141g'); did you mean h200_141g_sxm?",
    ),
    (
        "sweep --tp 1,x",
        "--tp must be an integer (got 'x'); write a list such as 1,2,4 or a range such as 1024:8192:1024.",
    ),
    (
        "sweep --batch 1,,2",
        "--batch must be an integer (got ''); write a list such as 1,2,4 or a range such as 1024:8192:1024.",
    ),
    (
        "sweep --batch 1:1_0",
        "--batch must be an integer (got '1_0'); write a list such as 1,2,4 or a range such as 1024:8192:1024.",
    ),
    (
        "sweep --context 8:1",
        "--context takes ranges as start:stop:step that hold a number (got '8:1'); "
        "write a list such as 1,2,4 or a range such as 1024:8192:1024.",
    ),
    (
        "sweep --context 1:999999999",
        "--context takes at most 10,000,000 numbers (got 999,999,999 in '1:999999999'); use a larger step.",
    ),
    (
        "sweep --context 1:100000 --batch 1:1000",
        "--tp · --pp · --batch · --context must have at most 10,000,000 points (got 400,000,000 points); shorten an axis.",
    ),
    (
        "sweep --batch 0",
        "--batch must be an integer from 1 to 1,000,000,000,000, or a non-empty sequence of them (got 0); "
        "see `blueprint-nb sweep --help`.",
    ),
    ("sweep --phase refill", "--phase must be decode or prefill (got 'refill'); did you mean prefill?"),
    ("sweep --output sweep.xlsx", "--output must end in .csv or .parquet (got 'sweep.xlsx'); rename the file."),
    ("sweep --output sweep", "--output must end in .csv or .parquet (got 'sweep'); rename the file."),
    ("sweep --output -", "--output must end in .csv or .parquet (got '-'); rename the file."),
    ("sweep --output ", "--output must end in .csv or .parquet (got ''); rename the file."),
    ("sweep --output new.csv/", "--output new.csv/ can't be written: it names a folder; name a file."),
    ("report --output new.html/", "--output new.html/ can't be written: it names a folder; name a file."),
    ("report --output ", "--output '' can't be written: it names no file; name a file."),
    (
        "report --output -",
        "--output must name a file (got '-'); "
        "name one such as report.html: reports are not written to standard output.",
    ),
    (
        "vidur --context 33,5000",
        "--context must be at most the sequence length of phi-2-dense-mha, 4,096 tokens (got 5,000); shorten the context.",
    ),
    ("vidur --tp 3", "--tp must divide the 32 attention heads (got 3); legal up to 64: 1, 2, 4, 8, 16, 32."),
    (
        "vidur --tp 16",
        "--tp must be at most 8, the ranks that network tier 0 (in the box) of a100_80g reaches (got 16); use fewer ranks, or another --tp-network.",
    ),
    ("vidur --phase refill", "--phase must be decode or prefill (got 'refill'); did you mean prefill?"),
    (
        "vidur --batch 0",
        "--batch must be an integer from 1 to 1,000,000,000,000 (got 0); see `blueprint-nb vidur --help`.",
    ),
    (
        "vidur --batch 1:200 --context 1:100",
        "--batch · --context must have at most 10,000 cases (got 20,000 cases); shorten a list.",
    ),
    (
        "vidur --backend FLASHINFER",
        "--backend is said of files, and none is given (got 'FLASHINFER'); name one by --attention, --compute, --all-reduce or --send-recv.",
    ),
    (
        "vidur --measured-model x",
        "--measured-model is said of files, and none is given (got 'x'); name one by --attention, --compute, --all-reduce or --send-recv.",
    ),
    ("vidur --html -", "--html must name a file (got '-'); name one such as vidur.html."),
    ("vidur --compute no.csv", "no.csv can't be read: no such file or directory; check the path."),
    (
        "calibrate --vidur ",
        "--vidur must not be empty (got ''); leave the option out, or give it a value.",
    ),
    (
        "calibrate --vidur no --revision ",
        "--revision must not be empty (got ''); leave the option out, or give it a value.",
    ),
    (
        "calibrate --aiconfigurator --stack trtllm",
        "--stack must be sglang or vllm (got 'trtllm'); did you mean vllm?",
    ),
    (
        "calibrate --aiconfigurator --target a100",
        "--target must be a100_sxm, b200_sxm, h100_sxm, h200_sxm or l40s (got 'a100'); did you mean a100_sxm?",
    ),
    (
        "validate --vidur ",
        "--vidur must not be empty (got ''); leave the option out, or give it a value.",
    ),
    (
        "vidur --source-revision ",
        "--source-revision must not be empty (got ''); leave the option out, or give it a value.",
    ),
    ("vidur --model phi", "--model must be one of 16 known names (got 'phi'); did you mean phi-2 or phi-2-dense-mha?"),
]


@pytest.mark.parametrize(("line", "message"), SENTENCES, ids=[line for line, _ in SENTENCES])
def test_bad_input_is_answered_by_one_sentence_and_status_2(run: Run, line: str, message: str) -> None:
    ran = run(*line.split(" "))
    assert (ran.status, ran.output, ran.messages) == (2, "", f"Error: {message}\n")


def test_a_long_path_is_shown_by_its_start_and_its_end(run: Run) -> None:
    ran = run("show", "model", f"/{'a' * 3000}.toml")
    assert ran.status == 2
    assert ran.messages == f"Error: /{'a' * 99}…{'a' * 94}.toml can't be read: file name too long; check the path.\n"


def test_a_folder_that_is_not_there_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "no" / "sweep.csv"
    ran = run("sweep", "--output", path)
    assert (ran.status, ran.output) == (2, "")
    assert ran.messages == (
        f"Error: --output {path} can't be written: no such file or directory; make the folder {path.parent} first.\n"
    )


def test_a_folder_is_not_written_over(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sweep.csv"
    folder.mkdir()
    ran = run("sweep", "--output", folder)
    assert (ran.status, ran.output) == (2, "")
    assert ran.messages == f"Error: --output {folder} can't be written: it is a folder; name a file.\n"


def test_a_fault_in_a_users_profile_names_the_file_and_the_field(run: Run, tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text('name = "mine"\nhidden_size = 0\n')
    ran = run("show", "model", profile)
    assert ran.status == 2
    assert ran.messages.startswith(
        "Error: mine.toml.hidden_size must be an integer from 1 to 1,000,000,000,000 (got 0)"
    )
    assert ran.messages.count("\n") == 1
