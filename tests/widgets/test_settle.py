from __future__ import annotations

import pytest
from blueprint_nb_widgets.settle import settle
from blueprint_nb_widgets.state import ExplorerState
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb import load_model, load_system
from blueprint_nb.analysis.providers import calibrations_of

START = ExplorerState(
    model=load_model("llama-3.1-8b"),
    system=load_system("h100_80g_nvl8"),
    tensor_parallel=8,
    pipeline_parallel=1,
    batch_size=1,
    prompt_tokens=1024,
    generated_tokens=128,
    datatype="float16",
    mode="system-evidence",
)
H100 = load_system("h100_80g_sxm")
CALIBRATED = START.with_value("system", H100).with_value("mode", "calibrated")
ANY_COUNT = st.integers(min_value=-(10**6), max_value=10**7)


def test_a_legal_state_stays_as_it_is():
    settled = settle(START)
    assert settled.state == START
    assert not settled.notes


def test_another_model_takes_the_largest_legal_tp_below():
    settled = settle(START.with_value("model", load_model("qwen2.5-7b")), "model")
    assert settled.state.tensor_parallel == 4
    assert settled.notes == {"tensor_parallel": "set to 4, 8 is not legal here"}


def test_another_system_takes_a_mode_it_has_figures_for():
    settled = settle(START.with_value("system", load_system("b200")), "system")
    assert settled.state.mode == "calibrated"
    assert settled.notes == {"mode": "set to calibrated, system-evidence is not possible here"}


def test_a_mode_and_calibration_that_nobody_asked_for_are_the_systems_and_need_no_note():
    settled = settle(START.with_value("system", H100).with_value("mode", None))
    assert (settled.state.mode, settled.state.calibration) == ("calibrated", calibrations_of(H100)[0])
    assert not settled.notes


@pytest.mark.parametrize("calibration", [None, "vidur", "pooled"])
def test_a_calibration_is_of_the_mode_calibrated_alone(calibration):
    settled = settle(START.with_value("calibration", calibration))
    assert settled.state.calibration is None
    assert not settled.notes


def test_a_calibration_that_a_system_has_stays():
    settled = settle(CALIBRATED.with_value("calibration", "pooled"))
    assert settled.state.calibration == "pooled"
    assert not settled.notes


def test_a_what_if_takes_the_pooled_calibration_in_place_of_the_one_asked_for():
    faster = H100.with_overrides({"memory.bandwidth_gb_per_s": 4000})
    settled = settle(CALIBRATED.with_value("calibration", "vidur").with_value("system", faster), "system")
    assert settled.state.calibration == "pooled"
    assert settled.notes == {"calibration": "set to pooled, vidur is not possible here"}


def test_another_system_takes_a_datatype_it_has_a_peak_for():
    state = START.with_value("datatype", "float8").with_value("system", load_system("a100_80g"))
    settled = settle(state, "system")
    assert settled.state.datatype == "float16"
    assert settled.notes == {"datatype": "set to float16, float8 is not possible here"}


def test_a_shorter_model_cuts_the_prompt_and_keeps_the_output():
    state = START.with_value("prompt_tokens", 100_000).with_value("model", load_model("llama-2-7b"))
    settled = settle(state, "model")
    assert (settled.state.prompt_tokens, settled.state.generated_tokens) == (3969, 128)
    assert settled.notes["prompt_tokens"] == "held at 3,969: prompt + generated − 1 may be at most 4,096"


@pytest.mark.parametrize("moved", ["prompt_tokens", "generated_tokens"])
def test_of_prompt_and_output_the_one_that_moved_gives_way(moved):
    settled = settle(START.with_value(moved, 131_072), moved)
    kept = {"prompt_tokens": "generated_tokens", "generated_tokens": "prompt_tokens"}[moved]
    assert getattr(settled.state, kept) == getattr(START, kept)
    assert list(settled.notes) == [moved]


@pytest.mark.parametrize(
    ("wanted", "held", "note"),
    [
        (0, 1, "held at 1: it must be at least 1"),
        (-5, 1, "held at 1: it must be at least 1"),
        (5000, 4096, "held at 4,096: batches of up to 4,096 are offered"),
    ],
)
def test_a_number_typed_out_of_range_is_held_and_explained(wanted, held, note):
    settled = settle(START.with_value("batch_size", wanted), "batch_size")
    assert settled.state.batch_size == held
    assert settled.notes == {"batch_size": note}


@given(batch=ANY_COUNT, prompt=ANY_COUNT, generated=ANY_COUNT, moved=st.sampled_from(["", "generated_tokens"]))
def test_whatever_is_typed_the_context_stays_within_the_sequence_length(batch, prompt, generated, moved):
    state = START.with_value("batch_size", batch).with_value("prompt_tokens", prompt)
    settled = settle(state.with_value("generated_tokens", generated), moved).state
    assert settled.batch_size >= 1
    assert settled.prompt_tokens >= 1
    assert settled.generated_tokens >= 1
    assert settled.prompt_tokens + settled.generated_tokens - 1 <= settled.model.sequence_length


@given(prompt=ANY_COUNT, generated=ANY_COUNT)
def test_settling_twice_changes_nothing_more(prompt, generated):
    once = settle(START.with_value("prompt_tokens", prompt).with_value("generated_tokens", generated)).state
    assert settle(once).state == once
    assert not settle(once).notes
