"""A contract is read whole or refused, and a candidate for it is printed, never written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from edited import CONTRACT, content, edited_baseline

from blueprint_nb.errors import BlueprintError, InvalidInputError, ProfileError, UnknownNameError
from blueprint_nb.validation import (
    RegressionContract,
    candidate_contract,
    contract_drifts,
    contract_names,
    load_contract,
    run_contract,
)


def test_a_ratchet_is_not_raised_by_way_of_its_budget_alone() -> None:
    changed = content()
    changed["budgets"]["component_mape_percent_at_most"] = 60.0
    with pytest.raises(InvalidInputError) as caught:
        RegressionContract(**changed)
    assert str(caught.value) == (
        "budgets.component_mape_percent_at_most "
        "must be reviewed.means.system-evidence.component_mape_percent: it is a ratchet. "
        "Got 60.0. Lower both together."
    )


def test_a_candidate_is_the_contract_itself_while_nothing_drifts() -> None:
    contract = load_contract()
    assert candidate_contract(contract, run_contract(contract)) == CONTRACT.read_text(encoding="utf-8")


def test_a_candidate_of_smaller_errors_lowers_the_ratchet_and_one_of_larger_errors_does_not_load(
    tmp_path: Path,
) -> None:
    contract = load_contract()
    smaller = run_contract(contract, edited_baseline(tmp_path, attention=("0.012", "0.011")))
    loaded = RegressionContract(**json.loads(candidate_contract(contract, smaller)))
    assert loaded.budgets.component_mape_percent_at_most < contract.budgets.component_mape_percent_at_most
    assert contract_drifts(loaded, smaller) == []
    larger = run_contract(contract, edited_baseline(tmp_path, attention=("0.012", "0.013")))
    refused = json.loads(candidate_contract(contract, larger))
    with pytest.raises(InvalidInputError, match="it is a ratchet"):
        RegressionContract(**refused)


def test_the_script_prints_a_candidate_and_leaves_the_file_alone() -> None:
    script = Path(__file__).with_name("candidate.py")
    ran = subprocess.run([sys.executable, script], capture_output=True, check=False, encoding="utf-8")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == CONTRACT.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("", ProfileError, "{path} can't be read: expecting value"),
        ("[]", ProfileError, "{path} can't be read: "),
        ("{" * 9, ProfileError, "{path} can't be read:"),
        ("[" * 100_000, ProfileError, "{path} can't be read:"),
        ('{"nmae": "x"}', InvalidInputError, "baseline_regression.json.nmae is not a known field. Got 'x'. Did you"),
        ("{}", InvalidInputError, "baseline_regression.json.name is required. Got nothing. Give name."),
    ],
)
def test_a_contract_that_cannot_be_read_is_one_of_the_projects_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, kind: type[BlueprintError], message: str
) -> None:
    path = tmp_path / "contracts" / "baseline_regression.json"
    path.parent.mkdir()
    path.write_text(text)
    monkeypatch.setattr("blueprint_nb.validation.contract.profiles_folder", lambda: tmp_path)
    with pytest.raises(kind) as caught:
        load_contract()
    assert str(caught.value).startswith(message.format(path=path))


def test_a_contract_that_is_not_there_is_named() -> None:
    assert contract_names() == ("baseline_regression",)
    with pytest.raises(UnknownNameError) as caught:
        load_contract("baseline")
    assert str(caught.value) == (
        "contract must be baseline_regression. Got 'baseline'. Did you mean baseline_regression?"
    )
