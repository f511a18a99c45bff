"""Experiments to report on, each made once: in the modes whose figures are pinned, and one in all.

What is calibrated moves with every fit, so that tests of it hold relations and no figures.
"""

from __future__ import annotations

import csv
import tempfile
from functools import lru_cache
from pathlib import Path

from vidur_profiles import baseline, case, write

from blueprint_nb.analysis import VidurProfileBaseline, load_slice
from blueprint_nb.catalog import profiles_folder
from blueprint_nb.cost import ANALYTICAL_MODES
from blueprint_nb.validation import VidurExperimentCase, VidurExperimentReport, run_vidur_experiment

PHI_2 = "phi-2-dense-mha"
GOLDEN = {"decode b1 c33": ("decode", 33), "decode b1 c129": ("decode", 129), "prefill b1 128": ("prefill", 128)}
Rows = list[dict[str, object]]
COMMANDING = "a\x1b[2J\x00\u202eb"
MARKUP = '<b onclick="x()">\'&</b>'


def phi_2(name: str, phase: str, context_tokens: int, **changes: object) -> VidurExperimentCase:
    return case(name, **{"model": PHI_2, "phase": phase, "context_tokens": context_tokens, **changes})


@lru_cache
def golden() -> VidurExperimentReport:
    return _run([phi_2(name, *step) for name, step in GOLDEN.items()], load_slice())


@lru_cache
def calibrated() -> VidurExperimentReport:
    """The golden cases in all modes."""
    return run_vidur_experiment([phi_2(name, *step) for name, step in GOLDEN.items()], load_slice())


@lru_cache
def many_calibrated() -> VidurExperimentReport:
    """Prefills of up to 40 tokens in all modes: lines with a band."""
    tokens = list(range(1, 41))
    return run_vidur_experiment([phi_2(f"prefill {count}", "prefill", count) for count in tokens], lengths(tokens))


@lru_cache
def nothing() -> VidurExperimentReport:
    """The slice is of Phi-2; nothing of Llama-2-7b is in it."""
    return _run([case("decode 129"), case("decode 33", context_tokens=33)], load_slice())


@lru_cache
def one_mode() -> VidurExperimentReport:
    """The A40 has no efficiency curves, so that of the analytical modes it has only peak-only."""
    return _run([phi_2("decode 129", "decode", 129, hardware="a40_48g")], altered({}, hardware_name="a40"))


@lru_cache
def odd() -> VidurExperimentReport:
    """Its norm took 9 ms, its MLP up a quarter of the estimate; its name is markup."""
    ms = {"input_layernorm": 9.0, "mlp_up_proj": 0.018}
    return _run([phi_2(MARKUP, "prefill", 128)], altered(ms))


@lru_cache
def many() -> VidurExperimentReport:
    """Forty prefills and forty decode steps, of lengths and contexts that are all measured."""
    tokens = [8 * step for step in range(1, 41)]
    prefills = [phi_2(f"prefill {count}", "prefill", count) for count in tokens]
    decodes = [phi_2(f"decode {count + 1}", "decode", count + 1) for count in tokens]
    return _run([*prefills, *decodes], lengths(tokens))


def _run(cases: list[VidurExperimentCase], oracle: VidurProfileBaseline) -> VidurExperimentReport:
    return run_vidur_experiment(cases, oracle, modes=ANALYTICAL_MODES)


def lengths(tokens: list[int]) -> VidurProfileBaseline:
    """Times of one row of the slice at every length of a prefill and at every length of the cache in `tokens`."""
    (compute,), (attention,) = rows("mlp.csv", is_one=True), rows("attention.csv", is_one=True)
    step = {"time_stats.attn_decode.median": 0.01, "is_prefill": False, "prefill_chunk_size": 0}
    return measured(
        [{**compute, "num_tokens": count} for count in sorted({1, *tokens})],
        [{**attention, **step, "kv_cache_size": count} for count in tokens],
    )


def compared(ms: dict[str, object], *, attention: bool = True) -> VidurExperimentReport:
    """A decode step against the slice with other times of some operators, with or without its attention file."""
    return _run([phi_2("decode 129", "decode", 129)], altered(ms, attention=attention))


def altered(ms: dict[str, object], *, attention: bool = True, **identity: str) -> VidurProfileBaseline:
    """The slice, with other times of some operators."""
    changes = {f"time_stats.{operator}.median": value for operator, value in ms.items()}
    compute = [{**row, **changes} for row in rows("mlp.csv")]
    return measured(compute, rows("attention.csv") if attention else None, **identity)


def measured(compute: Rows, attention: Rows | None, **identity: str) -> VidurProfileBaseline:
    """A baseline of Phi-2 from rows of its files."""
    with tempfile.TemporaryDirectory() as folder:
        return baseline(
            compute_csv=write(Path(folder) / "mlp.csv", compute),
            attention_csv=None if attention is None else write(Path(folder) / "attention.csv", attention),
            **{"model_name": "microsoft/phi-2", **identity},
        )


def rows(name: str, *, is_one: bool = False) -> Rows:
    """Of a file of the slice."""
    with (profiles_folder() / "vidur" / "phi2_a100_tp1" / name).open(encoding="utf-8") as file:
        found: Rows = list(csv.DictReader(file))
    return found[:1] if is_one else found
