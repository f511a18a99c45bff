from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import error_cases
import pytest

from blueprint_nb.errors import UnknownNameError
from blueprint_nb.report.error_rows import CaseErrors, ErrorRow, case_errors, case_names
from blueprint_nb.report.error_sentences import fitted_sentences, report_sentences
from blueprint_nb.report.error_words import signed_percent, whole_percent
from blueprint_nb.validation import VidurExperimentReport


def of(case: str, report: VidurExperimentReport | None = None) -> CaseErrors:
    return case_errors(report or error_cases.golden(), case)


def row(errors: CaseErrors, key: str) -> ErrorRow:
    return next(one for one in errors.rows if one.key == key)


GOLDEN = {
    # case: title, subtotal, MAPE and worst in both modes
    "decode b1 c33": (
        "Decode step at context 33, batch 1, TP 1",
        ("−47.2 %", "−26.4 %"),
        ("72.4 %", "60.9 %"),
        ("99.9 % (Input norm)", "99.5 % (Input norm)"),
    ),
    "decode b1 c129": (
        "Decode step at context 129, batch 1, TP 1",
        ("−48.0 %", "−27.5 %"),
        ("72.1 %", "60.5 %"),
        ("99.9 % (Input norm)", "99.5 % (Input norm)"),
    ),
    "prefill b1 128": (
        "Prefill of 128 tokens, batch 1, TP 1",
        ("−23.6 %", "+16.9 %"),
        ("48.2 %", "40.8 %"),
        ("91.7 % (Input norm)", "83.9 % (Input norm)"),
    ),
}


@pytest.mark.parametrize("case", GOLDEN)
def test_the_golden_cases_read_as_published(case):
    errors = of(case)
    subtotal = tuple(cell.error for cell in errors.subtotal.cells)
    assert (errors.title, subtotal, errors.mape, errors.worst) == GOLDEN[case]
    assert errors.modes == ("peak-only", "system-evidence")
    assert errors.coverage == "9 of 12 components, 75 %"
    assert errors.is_compared


def test_rows_are_in_plan_order_with_both_modes_side_by_side():
    errors = of("decode b1 c129")
    assert [one.key for one in errors.rows][:4] == ["input_norm", "qkv_projection", "rope", "kv_save"]
    qkv = row(errors, "qkv_projection")
    assert (qkv.component, qkv.reference, qkv.words, qkv.state) == ("QKV projection", "30.0 µs", "", "matched")
    assert [(cell.estimate, cell.error) for cell in qkv.cells] == [("19.3 µs", "−35.5 %"), ("26.9 µs", "−10.4 %")]
    assert qkv.cells[1].error_percent == pytest.approx(-10.421196581196567)


def test_what_is_not_covered_says_why():
    errors = of("decode b1 c129")
    missing = {one.key: one for one in errors.rows if one.state == "not-covered"}
    assert missing.keys() == {"kv_save", "attention_residual", "post_attention_norm"}
    assert missing["kv_save"].words == "no column: attention.csv has no time_stats.attn_kv_cache_save.median"
    assert {one.reference for one in missing.values()} == {"not covered"}
    assert {(cell.error, cell.error_percent) for one in missing.values() for cell in one.cells} == {("–", None)}
    assert (
        "Not compared: KV save, Post attention norm (no column); Attention residual (refused by policy)."
        in errors.sentences
    )


def test_duplicate_rows_are_counted_with_their_spread():
    assert row(of("prefill b1 128"), "attention_core").words.endswith("median of 2 rows, all equal")


def test_what_is_excluded_is_said_in_time_and_in_percent():
    assert of("prefill b1 128").excluded == ("2.91 µs of 157 µs, 1.86 %", "5.06 µs of 241 µs, 2.10 %")


def test_a_subtotal_that_hides_its_components_says_so():
    assert of("decode b1 c33").sentences[-1] == (
        "system-evidence: subtotal −26 % hides components between −99 % and −6 %."
    )


def test_errors_of_both_signs_are_said_to_cancel():
    assert of("prefill b1 128").sentences[-1] == (
        "system-evidence: subtotal +17 % hides components between −84 % and +43 %, which partly cancel."
    )


def test_a_subtotal_like_its_components_hides_nothing():
    others = ("input_layernorm", "attn_pre_proj", "attn_rope", "attn_post_proj", "mlp_act", "add")
    report = error_cases.compared(dict.fromkeys(others, ""), attention=False)
    errors = of("decode 129", report)
    assert [cell.error for one in errors.rows for cell in one.cells if cell.error_percent is not None] == [
        "−32.2 %",
        "−5.71 %",
        "−33.9 %",
        "−8.13 %",
    ]
    assert not any("hides" in sentence for sentence in errors.sentences)


def test_where_nothing_is_compared_the_reason_is_the_one_sentence():
    errors = of("decode 129", error_cases.nothing())
    assert errors.sentences == (
        "Nothing is compared: other model, the profile is of microsoft/phi-2, not of llama-2-7b.",
    )
    assert not errors.is_compared
    assert (errors.subtotal.reference, errors.subtotal.cells[0].estimate) == ("not covered", "–")
    assert errors.mape == errors.worst == ("–", "–")


def test_components_outside_the_block_say_so():
    head = row(of("decode 129", error_cases.nothing()), "lm_head")
    assert not head.in_block
    assert head.words.endswith("; outside the block: in no subtotal and no mean")


def test_a_flagged_measurement_keeps_its_error_and_leaves_the_subtotal():
    errors = of(error_cases.MARKUP, error_cases.odd())
    norm = row(errors, "input_norm")
    assert (norm.state, norm.reference) == ("flagged", "9.00 ms")
    assert norm.words.startswith("ruled out by physics: 9.00 ms for ")
    assert norm.cells[1].error == "−99.9 %"
    assert errors.coverage == "8 of 12 components, 67 %, 1 more flagged"
    assert errors.subtotal.reference == "161 µs"


def test_an_error_of_several_times_the_reference_keeps_its_number():
    errors = of(error_cases.MARKUP, error_cases.odd())
    assert [cell.error for cell in row(errors, "mlp_up").cells] == ["+171 %", "+301 %"]
    assert errors.worst[1] == "301 % (MLP up)"


def test_a_system_without_curves_has_one_mode():
    errors = of("decode 129", error_cases.one_mode())
    assert errors.modes == ("peak-only",)
    assert {len(one.cells) for one in (*errors.rows, errors.subtotal)} == {1}


def test_an_unknown_case_names_those_there_are():
    assert case_names(error_cases.golden()) == tuple(error_cases.GOLDEN)
    with pytest.raises(UnknownNameError) as caught:
        of("prefill 4,096")
    assert str(caught.value) == (
        "case must be decode b1 c129, decode b1 c33 or prefill b1 128. Got 'prefill 4,096'. Did you mean prefill b1 128?"
    )


def test_a_report_says_what_it_compares_what_it_claims_and_its_means():
    measured, claim, topology, frozen, *means = report_sentences(error_cases.golden())
    assert measured == (
        "Measured: microsoft/phi-2 on a100 (Vidur), attention FLASH_ATTENTION with blocks of 16 tokens; files "
        "attention, compute; source revision 8383d2935bc6…, baseline 8fe74184779e…."
    )
    assert claim.startswith("Compared are kernel times of single components")
    assert "is not claimed (topology_equivalence = not-claimed-by-raw-component-profile-alignment)." in topology
    assert frozen == (
        "Every estimate was finished before the first look-up: oracle_read_during_lowering, "
        "oracle_read_during_costing, fit_against_case_outputs are false."
    )
    assert means == [
        "peak-only: subtotal MAPE 39.6 %, component MAPE 64.2 %, worst component 99.9 %, over 3 cases.",
        "system-evidence: subtotal MAPE 23.6 %, component MAPE 54.1 %, worst component 99.5 %, over 3 cases.",
    ]


def test_where_nothing_is_compared_no_topology_is_spoken_of():
    said = report_sentences(error_cases.nothing())
    assert not any("topology" in sentence for sentence in said)
    assert said[-1] == "system-evidence: nothing of 2 cases is compared."


@pytest.mark.parametrize(
    ("percent", "text"),
    [(-99.50036, "−99.5 %"), (-5.709, "−5.71 %"), (0.0, "0.00 %"), (-0.001, "0.00 %"), (0.3461, "+0.35 %"),
     (316.9, "+317 %"), (1240.4, "+1,240 %"), (-99.97, "−99.9 %"), (-99.9999, "−99.9 %"), (-100.0, "−100 %"), (99.97, "+100 %")],
)  # fmt: skip
def test_errors_have_three_digits_and_a_true_minus(percent, text):
    assert signed_percent(percent) == text


@pytest.mark.parametrize(
    ("percent", "text"), [(-99.50036, "−99 %"), (-26.36, "−26 %"), (-0.4, "0 %"), (301.0, "+301 %"), (-99.999, "−99 %")]
)
def test_whole_percents_never_say_that_an_estimate_is_nothing(percent, text):
    assert whole_percent(percent) == text


def test_rows_and_sentences_need_no_chart_library():
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['altair', 'jinja2', 'vl_convert']))\n"
        "import blueprint_nb.report.error_rows, blueprint_nb.report.error_sentences, blueprint_nb.report.error_words"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_mode_with_bands_says_where_its_estimates_lie_and_whether_the_measurement_does():
    errors = of("decode b1 c33", error_cases.calibrated())
    assert errors.banded_mode == errors.modes[-1] == "calibrated"
    for one in (*errors.rows, errors.subtotal):
        *plain, banded = one.cells
        assert {cell.band for cell in plain} == {""}
        assert "–" in banded.band
        assert (banded.in_band is None) == (one.state == "not-covered")
        if banded.ends_percent is not None:
            low, high = banded.ends_percent
            assert low <= banded.error_percent <= high
            assert banded.in_band == (low <= 0 <= high)
    held = [one.cells[-1].in_band for one in errors.rows if one.state == "matched"]
    assert errors.in_bands == ("–", "–", f"{sum(held)} of 9, {round(100 * sum(held) / 9)} %")
    assert errors.summary[-1] == ("Measured within the 90 % band", errors.in_bands)


def test_without_bands_no_summary_speaks_of_them():
    errors = of("decode b1 c33")
    assert errors.banded_mode == ""
    assert len(errors.summary) == 3


def test_what_was_priced_beyond_the_fit_is_named_with_how():
    sentence = of("decode b1 c33", error_cases.calibrated()).sentences[-1]
    assert sentence.startswith("calibrated: beyond what was fitted to: ")
    assert "outside range: head_size" in sentence


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ((), "; of which models these are, it does not say: microsoft/phi-2, measured here, may be among them."),
        (("meta-llama/Llama-2-7b-hf",), ", of meta-llama/Llama-2-7b-hf; microsoft/phi-2, measured here, was not among them."),
        (
            ("Qwen/Qwen-72B", "phi-2"),
            ", of Qwen/Qwen-72B, phi-2; microsoft/phi-2, measured here, was among them: its errors are of a fit, not a prediction.",
        ),
    ],
)  # fmt: skip
def test_a_report_says_whether_the_measured_model_was_fitted_to(models, said):
    report = error_cases.calibrated()
    (first, *others) = report.frozen.cases[0].calibrations
    sets = (first.model_copy(update={"models": models}), *others)
    cases = tuple(replace(one, calibrations=sets) for one in report.frozen.cases)
    (sentence,) = fitted_sentences(replace(report, frozen=replace(report.frozen, cases=cases)))
    assert sentence.startswith("Calibrated by vidur (")
    assert sentence.endswith(said)


def test_the_mean_of_a_mode_with_bands_says_how_many_measurements_lie_in_them():
    *plain, calibrated = report_sentences(error_cases.calibrated())[-3:]
    assert not any("band" in sentence for sentence in plain)
    assert "; measured within the 90 % band: " in calibrated
    assert " of 27 components, " in calibrated
