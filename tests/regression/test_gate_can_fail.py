"""The gate fails when it should, and says each value as old, new and difference."""

from __future__ import annotations

import hashlib
import shutil
from math import nan
from pathlib import Path

import pytest
from edited import SLICE, content, edited_baseline, faster_memory

from blueprint_nb.analysis import VidurProfileBaseline
from blueprint_nb.catalog import profiles_folder
from blueprint_nb.errors import IntegrityError
from blueprint_nb.validation import (
    RegressionContract,
    contract_drifts,
    drift_message,
    load_contract,
    run_contract,
)
from blueprint_nb.validation.comparison import CaseComparison


def lines(contract: RegressionContract, baseline: VidurProfileBaseline | None = None) -> list[str]:
    return [str(drift) for drift in contract_drifts(contract, run_contract(contract, baseline))]


def test_a_changed_reviewed_value_is_told_with_old_new_and_difference() -> None:
    changed = content()
    modes = changed["reviewed"]["cases"]["decode b1 c33"]["modes"]
    modes["system-evidence"]["comparable_seconds"] = 0.0001
    modes["peak-only"]["matched_count"] = 8
    changed["reviewed"]["hardware_revision"] = "another"
    contract = RegressionContract(**changed)
    found = contract_drifts(contract, run_contract(contract))
    assert drift_message(contract, found) == (
        "baseline_regression: 3 values are not as reviewed.\n"
        "This gate claims provenance, coverage and the detection of drift only: not that an estimate is right, "
        "nor how far off another case is.\n"
        "  reviewed.hardware_revision: old another, "
        "new 49f9aed96206ad3975ee2d87fbe0e9393f091ff2b61ed84447d872d28fc7c5ad, difference not equal\n"
        "  reviewed.cases.decode b1 c33.modes.peak-only.matched_count: old 8, new 9, difference +1\n"
        "  reviewed.cases.decode b1 c33.modes.system-evidence.comparable_seconds: "
        "old 0.0001, new 0.00010824697435897437, difference +8.24697e-06 (tolerance 1e-15)\n"
        "Nothing rewrites profiles/contracts/baseline_regression.json: where the new values are meant, "
        "change it by hand,\n"
        "and say why in the commit message."
    )


def test_a_value_within_its_tolerance_is_no_drift() -> None:
    changed = content()
    figures = changed["reviewed"]["cases"]["decode b1 c33"]["modes"]["system-evidence"]
    figures["comparable_seconds"] += 9e-16
    figures["component_mape_percent"] += 9e-10
    assert lines(RegressionContract(**changed)) == []
    figures["comparable_seconds"] += 2e-16
    assert [line.partition(":")[0] for line in lines(RegressionContract(**changed))] == [
        "reviewed.cases.decode b1 c33.modes.system-evidence.comparable_seconds"
    ]


def test_a_worsened_component_mape_breaks_the_ratchet_as_well_as_the_reviewed_value() -> None:
    changed = content()
    changed["budgets"]["component_mape_percent_at_most"] = 54.0
    changed["reviewed"]["means"]["system-evidence"]["component_mape_percent"] = 54.0
    assert lines(RegressionContract(**changed)) == [
        "budgets.component_mape_percent_at_most: old 54.0, new 54.077024879705355, difference +0.0770249",
        "reviewed.means.system-evidence.component_mape_percent: "
        "old 54.0, new 54.077024879705355, difference +0.0770249 (tolerance 1e-09)",
    ]


def test_a_system_that_changed_breaks_the_budgets_it_misses_and_says_its_revision(tmp_path: Path) -> None:
    contract = load_contract().model_copy(update={"system": str(faster_memory(tmp_path))})
    found = lines(contract)
    assert found[:3] == [
        "budgets.subtotal_mape_percent_at_most: old 24.0, new 45.49387391023512, difference +21.4939",
        "budgets.subtotal_max_percent_at_most: old 28.0, new 62.03457264957264, difference +34.0346",
        "budgets.component_mape_percent_at_most: old 54.077024879705355, new 66.26556262158941, difference +12.1885",
    ]
    assert found[3].startswith("reviewed.hardware_revision: old 49f9aed9")
    assert all("component_count" not in line and "digest" not in line for line in found)


def test_a_changed_slice_is_told_by_its_revision_its_file_and_what_follows_from_it(tmp_path: Path) -> None:
    baseline = edited_baseline(tmp_path, attention=("0.012", "0.013"))
    found = lines(load_contract(), baseline)
    assert found[:3] == [
        "budgets.component_mape_percent_at_most: old 54.077024879705355, new 54.103765937001974, difference +0.0267411",
        "reviewed.baseline_revision: old 8fe74184779e91b4b209b7c10fa50797802680c9a462e6f0a4dea1aad31f17bb, "
        f"new {baseline.revision}, difference not equal",
        "reviewed.baseline_files.attention: old 3c1b7a28425484f9008307a5e63e9a92e52156d3d6734f2ce8f4a30f83fefb3f, "
        f"new {baseline.file_digests['attention']}, difference not equal",
    ]
    assert (
        "reviewed.cases.decode b1 c129.modes.peak-only.reference_seconds: "
        "old 0.00015, new 0.00015099999999999998, difference +1e-06 (tolerance 1e-15)"
    ) in found
    assert not any("c33" in line or "prefill" in line for line in found)


def test_a_slice_that_is_not_its_manifests_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(profiles_folder() / "vidur", tmp_path / "vidur")
    path = tmp_path / "vidur" / SLICE.name / "mlp.csv"
    path.write_text(path.read_text().replace("0.0505", "0.0506"))
    monkeypatch.setattr("blueprint_nb.analysis.vidur.slices.profiles_folder", lambda: tmp_path)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(IntegrityError) as caught:
        run_contract(load_contract())
    assert str(caught.value) == (
        f"{path} must be the file of the manifest, "
        "SHA-256 6fc488f0ae936d1caa1e6782c34c70d749e6fbc8c12cb97cd546ed90bd16d0c3. "
        f"Got SHA-256 {found}. Restore the file."
    )


def test_a_slice_that_covers_less_breaks_the_coverage_budget_though_its_errors_are_smaller(tmp_path: Path) -> None:
    baseline = edited_baseline(tmp_path, mlp=("time_stats.add.median", "time_stats.addition.median"))
    found = lines(load_contract(), baseline)
    assert [line for line in found if line.startswith("budgets.")] == [
        "budgets.coverage_at_least: old 0.75, new 0.6666666666666666, difference -0.0833333"
    ]
    assert "reviewed.cases.prefill b1 128.modes.peak-only.matched_count: old 9, new 8, difference -1" in found


def test_where_nothing_is_covered_any_more_every_budget_is_broken(tmp_path: Path) -> None:
    baseline = VidurProfileBaseline(edited_baseline(tmp_path).identity, ())
    assert lines(load_contract(), baseline)[:5] == [
        "budgets.coverage_at_least: old 0.75, new 0.0, difference -0.75",
        "budgets.subtotal_mape_percent_at_most: old 24.0, new nothing, difference not equal",
        "budgets.subtotal_max_percent_at_most: old 28.0, new nothing, difference not equal",
        "budgets.subtotal_mape_points_better_at_least: old 10.0, new nothing, difference not equal",
        "budgets.component_mape_percent_at_most: old 54.077024879705355, new nothing, difference not equal",
    ]


def test_a_case_or_a_mode_more_or_less_is_drift() -> None:
    changed = content()
    del changed["reviewed"]["cases"]["decode b1 c33"]
    changed["cases"] = changed["cases"][:2]
    found = lines(RegressionContract(**changed))
    assert (
        "reviewed.cases.decode b1 c33.modes.peak-only.component_count: old nothing, new 12, difference not equal"
    ) in found
    assert (
        "reviewed.cases.prefill b1 128.modes.peak-only.component_count: old 12, new nothing, difference not equal"
    ) in found


def test_a_figure_that_is_no_number_any_more_is_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CaseComparison, "excluded_seconds", property(lambda self: nan))
    monkeypatch.setattr(CaseComparison, "component_mape_percent", property(lambda self: nan))
    found = lines(load_contract())
    assert [line.partition(":")[0] for line in found if "budgets" in line] == ["budgets.component_mape_percent_at_most"]
    assert sum("excluded_seconds" in line for line in found) == 6
    assert found[0].endswith("new nan, difference +nan")
