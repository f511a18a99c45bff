"""Which steps of a request are compared: its prefill, and the decode steps that a profile has rows of."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from vidur_profiles import COMPUTE, SERIAL, baseline, case, decodes, times, write

import blueprint_nb as bp
from blueprint_nb.analysis import Estimate, VidurProfileBaseline, load_slice
from blueprint_nb.analysis.oracle import ReadCount
from blueprint_nb.validation import VidurExperimentReport, error_report
from blueprint_nb.validation.freeze import freeze


def estimate_of(**changes: Any) -> Estimate:
    """Llama-2-7b on an A100: a prefill of 128 tokens, and decode steps at contexts from 129 to 1,127."""
    inputs = {"prompt_tokens": 128, "generated_tokens": 1000, "datatype": "float16", **changes}
    return bp.estimate("llama-2-7b", "a100_80g", **inputs)


def attention(folder: Path, contexts: Iterable[int], **changes: Any) -> VidurProfileBaseline:
    """A baseline of decode steps at `contexts`, in no order."""
    return baseline(attention_csv=write(folder / "attention.csv", decodes(contexts, **changes)))


def names(report: VidurExperimentReport) -> list[str]:
    return list(report.by_case)


def test_the_prefill_and_the_decode_steps_at_measured_contexts_are_compared(tmp_path: Path):
    oracle = attention(tmp_path, [300, 129, 1127, 200, 1128, 128, 4000])
    report = error_report(estimate_of(), oracle)
    assert names(report) == ["prefill 128", "decode 129", "decode 200", "decode 300", "decode 1,127"]
    matched = report.components.filter(component="attention_core", mode="peak-only")
    assert matched["state"].to_list() == ["not-covered"] + ["matched"] * 4


@pytest.mark.parametrize("count", [64, 65, 500, 999])
def test_at_most_64_decode_steps_are_compared_evenly_and_with_both_ends(tmp_path: Path, count: int):
    report = error_report(estimate_of(), attention(tmp_path, range(129, 129 + count)))
    contexts = [one[0].frozen.case.context_tokens for one in report.by_case.values()][1:]
    gaps = {after - before for before, after in pairwise(contexts)}
    assert len(contexts) == 64
    assert (contexts[0], contexts[-1]) == (129, 128 + count)
    assert max(gaps) - min(gaps) <= 1


@pytest.mark.parametrize(
    ("contexts", "changes"),
    [
        ([], {}),
        ([128, 1128], {}),
        ([129, 200], {"batch_size": 2}),
        ([129, 200], {"num_tensor_parallel_workers": 2}),
        ([129, 200], {"n_kv_head": 8}),
        ([129, 200], {"attention_backend": "AttentionBackend.FLASHINFER"}),
        ([129, 200], {"is_prefill": True}),
    ],
)
def test_where_no_decode_step_is_measured_the_first_is_compared(
    tmp_path: Path, contexts: list[int], changes: dict[str, Any]
):
    # A row that is like no step of the request, so that the file is never empty.
    rows = decodes([129], num_tensor_parallel_workers=8) + decodes(contexts, **changes)
    oracle = baseline(attention_csv=write(tmp_path / "attention.csv", rows))
    assert names(error_report(estimate_of(), oracle)) == ["prefill 128", "decode 129"]


def test_the_first_decode_step_is_compared_where_no_attention_is_measured_at_all(tmp_path: Path):
    oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", [{**COMPUTE, **times(*SERIAL)}]))
    report = error_report(estimate_of(), oracle)
    assert names(report) == ["prefill 128", "decode 129"]
    assert [len(one.matched) for one in report.by_case["decode 129"]] == [len(SERIAL)] * 3


@pytest.mark.parametrize("contexts", [[129, 200], [128]])
def test_a_request_without_decode_steps_is_compared_in_its_prefill_alone(tmp_path: Path, contexts: list[int]):
    assert names(error_report(estimate_of(generated_tokens=1), attention(tmp_path, contexts))) == ["prefill 128"]


def test_one_decode_step_is_compared_once(tmp_path: Path):
    assert names(error_report(estimate_of(generated_tokens=2), attention(tmp_path, [129]))) == [
        "prefill 128",
        "decode 129",
    ]


def test_what_is_compared_is_the_request_itself(tmp_path: Path):
    estimated = estimate_of(tensor_parallel=2, batch_size=4, attention="unfused")
    oracle = attention(tmp_path, [129, 200], num_tensor_parallel_workers=2, batch_size=4)
    report = error_report(estimated, oracle)
    assert names(report) == ["prefill 128", "decode 129", "decode 200"]
    inputs = estimated.inputs
    for one, *_ in report.by_case.values():
        made = one.frozen.case
        assert (made.model, made.mapping, made.network_binding) == (inputs.model, inputs.mapping, inputs.network)
        assert (made.hardware, made.datatype, made.batch_size) == (inputs.system, "float16", 4)
        assert made.attention == "unfused"
    assert inputs.mode == "system-evidence"
    prefill = report.by_case["prefill 128"][1].estimate
    assert prefill.seconds == pytest.approx(estimated.prefill_seconds, rel=1e-12)


@pytest.mark.parametrize("calibration", [None, "pooled"])
def test_a_calibrated_estimate_is_compared_with_the_parameters_that_priced_it(tmp_path: Path, calibration: str | None):
    estimated = estimate_of(mode="calibrated", calibration=calibration)
    report = error_report(estimated, attention(tmp_path, [129]))
    calibrated = report.by_case["prefill 128"][-1]
    assert calibrated.mode == "calibrated"
    assert calibrated.estimate.seconds == pytest.approx(estimated.prefill_seconds, rel=1e-12)
    used = calibrated.frozen.calibrations[0].name
    assert used == estimated.inputs.calibration == (calibration or "vidur")


def test_an_estimate_is_compared_with_the_slice_that_ships_unless_a_baseline_is_given(tmp_path: Path):
    own = attention(tmp_path, [200])
    assert error_report(estimate_of(), own).baseline_revision == own.revision
    phi_2 = bp.estimate("phi-2-dense-mha", "a100_80g", prompt_tokens=32, generated_tokens=99, datatype="float16")
    report = error_report(phi_2)
    assert report.baseline_revision == load_slice().revision
    assert names(report) == ["prefill 32", "decode 33", "decode 129"]


def test_measured_contexts_are_those_of_like_steps_and_no_time_is_read_for_them(tmp_path: Path):
    subject = freeze([case()], ReadCount()).cases[0].subject
    rows = decodes([300, 129]) + decodes([200], batch_size=2)
    oracle = baseline(attention_csv=write(tmp_path / "attention.csv", rows))
    assert oracle.measured_contexts(subject) == [129, 300]
    assert oracle.reads.reads == 0
    assert baseline().measured_contexts(subject) == []
