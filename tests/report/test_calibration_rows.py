"""The report's table of families: what an estimate asked of each, and where it lies outside what was observed."""

from __future__ import annotations

import blueprint_nb as bp
from blueprint_nb.report.calibration_rows import family_rows


def test_a_phase_is_named_where_the_other_meets_the_fit_otherwise() -> None:
    estimate = bp.estimate("llama-3.1-70b", "h100_80g_sxm", batch_size=8, prompt_tokens=1024, generated_tokens=8)
    asked = {row.family: row.asked for row in family_rows(estimate)}
    assert asked["Embedding"] == "in range; Embedding: outside range: rows (prefill)"
    assert asked["GEMM"] == "in range; LM head: outside range: n"
    assert asked["RoPE"] == "in range; RoPE: outside range: rows (prefill)"


def test_what_is_outside_in_both_phases_alike_is_said_once() -> None:
    estimate = bp.estimate("llama-3.1-70b", "h100_80g_sxm", batch_size=1, prompt_tokens=8, generated_tokens=8)
    asked = {row.family: row.asked for row in family_rows(estimate)}
    assert asked["Activation"] == "MLP activation: outside range: width"
