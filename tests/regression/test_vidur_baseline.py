"""The drift gate: the Vidur experiment on the slice that ships, beside its reviewed values and the published ones."""

from __future__ import annotations

from typing import Any

import pytest

from blueprint_nb.analysis import load_slice
from blueprint_nb.validation import (
    RegressionContract,
    VidurExperimentReport,
    contract_drifts,
    drift_message,
    load_contract,
    run_contract,
)

pytestmark = pytest.mark.baseline_regression

# Published for this slice, and not taken from this project: seconds of Vidur and of both modes, and errors in percent.
PUBLISHED: dict[str, dict[str, float]] = {
    "decode b1 c33": {
        "reference_seconds": 0.000147,
        "evidence_seconds": 0.00010824697435897437,
        "peak_seconds": 7.75643641025641e-05,
        "subtotal_error_percent": -26.36260247688818,
        "component_mape_percent": 60.87949445624435,
        "component_max_percent": 99.50036630036631,
    },
    "decode b1 c129": {
        "reference_seconds": 0.00015,
        "evidence_seconds": 0.00010879564102564103,
        "peak_seconds": 7.80475641025641e-05,
        "subtotal_error_percent": -27.469572649572648,
        "component_mape_percent": 60.549761945956284,
        "component_max_percent": 99.50036630036631,
    },
    "prefill b1 128": {
        "reference_seconds": 0.0002015,
        "evidence_seconds": 0.00023554310256410256,
        "peak_seconds": 0.00015392893846153847,
        "subtotal_error_percent": 16.894839982184898,
        "component_mape_percent": 40.80181823691545,
        "component_max_percent": 83.93685897435897,
    },
}
PUBLISHED_MEANS = {
    "subtotal_mape_percent": 23.57567170288191,
    "component_mape_percent": 54.07702487970536,
    "component_max_percent": 99.50036630036631,
}
PUBLISHED_PEAK_ONLY_MAPE_PERCENT = 39.60396144129218


@pytest.fixture(scope="module")
def contract() -> RegressionContract:
    return load_contract()


@pytest.fixture(scope="module")
def report(contract: RegressionContract) -> VidurExperimentReport:
    return run_contract(contract)


def rows(report: VidurExperimentReport) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["case"], row["mode"]): row for row in report.cases.to_dicts()}


def seconds(value: float) -> Any:
    return pytest.approx(value, rel=0, abs=1e-15)


def percent(value: float) -> Any:
    return pytest.approx(value, rel=0, abs=1e-9)


def test_no_reviewed_value_moved_and_no_budget_is_broken(
    contract: RegressionContract, report: VidurExperimentReport
) -> None:
    found = contract_drifts(contract, report)
    assert not found, drift_message(contract, found)


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_case_has_the_published_subtotals_and_errors(report: VidurExperimentReport, name: str) -> None:
    published, evidence, peak = PUBLISHED[name], rows(report)[name, "system-evidence"], rows(report)[name, "peak-only"]
    assert evidence["reference_seconds"] == peak["reference_seconds"] == seconds(published["reference_seconds"])
    assert evidence["comparable_seconds"] == seconds(published["evidence_seconds"])
    assert peak["comparable_seconds"] == seconds(published["peak_seconds"])
    for field in ("subtotal_error_percent", "component_mape_percent", "component_max_percent"):
        assert evidence[field] == percent(published[field]), field


def test_the_means_are_the_published_ones(report: VidurExperimentReport) -> None:
    means = {row["mode"]: row for row in report.means.to_dicts()}
    for field, value in PUBLISHED_MEANS.items():
        assert means["system-evidence"][field] == percent(value), field
    assert means["peak-only"]["subtotal_mape_percent"] == percent(PUBLISHED_PEAK_ONLY_MAPE_PERCENT)


def test_nine_of_twelve_components_are_compared_in_every_case(report: VidurExperimentReport) -> None:
    assert set(report.cases["component_count"]) == {12}
    assert set(report.cases["matched_count"]) == {9}
    assert set(report.cases["coverage"]) == {0.75}
    left_out = report.components.filter(report.components["state"] != "matched")["component"]
    assert set(left_out) == {"kv_save", "attention_residual", "post_attention_norm"}


def test_the_reviewed_values_are_the_published_ones_too(contract: RegressionContract) -> None:
    for name, published in PUBLISHED.items():
        modes = contract.reviewed.cases[name].modes
        evidence, peak = modes["system-evidence"], modes["peak-only"]
        assert evidence.comparable_seconds == seconds(published["evidence_seconds"])
        assert peak.comparable_seconds == seconds(published["peak_seconds"])
        assert evidence.subtotal_error_percent == percent(published["subtotal_error_percent"])
        assert evidence.component_mape_percent == percent(published["component_mape_percent"])
    assert contract.reviewed.means["system-evidence"].component_mape_percent == percent(
        PUBLISHED_MEANS["component_mape_percent"]
    )


def test_the_budgets_are_the_ones_agreed_on(contract: RegressionContract) -> None:
    assert contract.budgets.model_dump() == {
        "mode": "system-evidence",
        "compared_with": "peak-only",
        "coverage_at_least": 0.75,
        "subtotal_mape_percent_at_most": 24,
        "subtotal_max_percent_at_most": 28,
        "subtotal_mape_points_better_at_least": 10,
        "component_mape_percent_at_most": percent(PUBLISHED_MEANS["component_mape_percent"]),
    }
    assert contract.tolerances.model_dump() == {"seconds": 1e-15, "percent": 1e-9}


def test_the_gate_claims_no_more_than_it_does(contract: RegressionContract, report: VidurExperimentReport) -> None:
    assert contract.claims == (
        "provenance, coverage and the detection of drift only: "
        "not that an estimate is right, nor how far off another case is."
    )
    assert contract.reviewed.topology_equivalence == "not-claimed-by-raw-component-profile-alignment"
    assert set(report.cases["topology_equivalence"]) == {contract.reviewed.topology_equivalence}


def test_its_provenance_is_that_of_the_slice(contract: RegressionContract, report: VidurExperimentReport) -> None:
    baseline = load_slice(contract.slice)
    assert contract.reviewed.baseline_revision == baseline.revision == report.baseline_revision
    assert contract.reviewed.baseline_files == baseline.file_digests
    assert baseline.identity.source_revision == "8383d2935bc62723a212090baa9f98ada206fc14"
    assert not report.oracle_read_during_lowering
    assert not report.oracle_read_during_costing
    assert not report.fit_against_case_outputs
