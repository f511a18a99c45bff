"""Drift: where an experiment differs from its contract, each value as old, new and difference.

Texts and counts must be equal; seconds and percent may differ by the contract's tolerances. A budget that is broken is
told of apart from the reviewed value that moved. Nothing here writes a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .._canonical import plain
from ..analysis.vidur import VidurProfileBaseline, load_slice
from ..cost import ANALYTICAL_MODES
from .contract import MeanFigures, ModeFigures, RegressionContract
from .experiment import run_vidur_experiment
from .report import VidurExperimentReport

_NOTHING: Final = "nothing"
_RATCHET: Final = "component_mape_percent_at_most"
_SLACK_POINTS: Final = 1e-9
"""A budget is no finer than this: a mean's last digits are rounding."""


@dataclass(frozen=True, slots=True)
class Drift:
    """A value that is not as the contract has it."""

    place: str
    """Its path in the contract."""
    old: Any
    """As the contract has it; None where it has none."""
    new: Any
    """As it is now; None where there is none."""
    tolerance: float = 0.0
    """How far it may move, in its own unit."""

    @property
    def difference(self) -> float | None:
        """New less old; None where they are no numbers."""
        return self.new - self.old if _is_number(self.old) and _is_number(self.new) else None

    def __str__(self) -> str:
        old, new = (_NOTHING if value is None else str(value) for value in (self.old, self.new))
        difference = "not equal" if self.difference is None else f"{self.difference:+.6g}"
        tolerance = f" (tolerance {self.tolerance:g})" if self.tolerance and self.difference is not None else ""
        return f"{self.place}: old {old}, new {new}, difference {difference}{tolerance}"


def run_contract(contract: RegressionContract, baseline: VidurProfileBaseline | None = None) -> VidurExperimentReport:
    """The contract's experiment, against its slice or another baseline. Raises as `load_slice`.

    In the modes that follow from a system's figures alone: fitted parameters move with every fit.
    """
    oracle = load_slice(contract.slice) if baseline is None else baseline
    return run_vidur_experiment(contract.experiment_cases(), oracle, modes=ANALYTICAL_MODES)


def contract_drifts(contract: RegressionContract, report: VidurExperimentReport) -> list[Drift]:
    """Broken budgets, and then every reviewed value that moved; none where the contract holds."""
    return [*_broken_budgets(contract, report), *_moved(contract, report)]


def drift_message(contract: RegressionContract, found: list[Drift]) -> str:
    """What a failing gate prints: what it claims, a line for each value, and what to do."""
    lines = [
        f"{contract.name}: {len(found):,} {'value is' if len(found) == 1 else 'values are'} not as reviewed.",
        f"This gate claims {contract.claims}",
        *(f"  {one}" for one in found),
        f"Nothing rewrites profiles/contracts/{contract.name}.json: where the new values are meant, change it by hand,",
        "and say why in the commit message.",
    ]
    return "\n".join(lines)


def candidate_contract(contract: RegressionContract, report: VidurExperimentReport) -> str:
    """The contract with the figures of `report` in place of the reviewed ones, as JSON to be looked at.

    A component MAPE that rose leaves its budget where it was: such a contract can't be loaded.
    """
    reviewed = _observed(report)
    budgets = plain(contract.budgets)
    mape = reviewed["means"].get(contract.budgets.mode, {}).get("component_mape_percent")
    if mape is not None:
        budgets[_RATCHET] = min(mape, budgets[_RATCHET])
    content = {**plain(contract), "budgets": budgets, "reviewed": reviewed}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _observed(report: VidurExperimentReport) -> dict[str, Any]:
    """The figures of `report`, laid out as a contract's `reviewed`. Its cases are of one model and mapping."""
    rows = report.cases.to_dicts()
    first = rows[0]
    shared = ("topology_equivalence", "baseline_revision", "hardware_revision", "model_digest", "distributed_digest")
    cases: dict[str, Any] = {}
    for row in rows:
        digests = {name: row[name] for name in ("portable_plan_digest", "bound_plan_digest")}
        case = cases.setdefault(row["case"], {**digests, "modes": {}})
        case["modes"][row["mode"]] = {name: row[name] for name in ModeFigures.model_fields}
    return {
        "oracle_read_during_lowering": report.oracle_read_during_lowering,
        "oracle_read_during_costing": report.oracle_read_during_costing,
        "fit_against_case_outputs": report.fit_against_case_outputs,
        **{name: first[name] for name in shared},
        "baseline_files": dict(report.baseline_files),
        "means": {
            row["mode"]: {name: row[name] for name in MeanFigures.model_fields} for row in report.means.to_dicts()
        },
        "cases": cases,
    }


def _moved(contract: RegressionContract, report: VidurExperimentReport) -> Iterator[Drift]:
    old, new = dict(_leaves("reviewed", plain(contract.reviewed))), dict(_leaves("reviewed", _observed(report)))
    for place in dict.fromkeys([*old, *new]):
        drift = Drift(place, old.get(place), new.get(place), _tolerance(contract, place))
        # Asked this way round, so that no NaN holds a contract.
        holds = drift.difference is not None and abs(drift.difference) <= drift.tolerance
        if drift.old != drift.new and not holds:
            yield drift


def _broken_budgets(contract: RegressionContract, report: VidurExperimentReport) -> Iterator[Drift]:
    budgets = contract.budgets
    means = {row["mode"]: row for row in report.means.to_dicts()}
    own, other = means.get(budgets.mode, {}), means.get(budgets.compared_with, {})
    coverage = report.cases.filter(report.cases["mode"] == budgets.mode)["coverage"].min()
    mape, other_mape = own.get("subtotal_mape_percent"), other.get("subtotal_mape_percent")
    better = None if mape is None or other_mape is None else other_mape - mape
    for name, value in (
        ("coverage_at_least", coverage),
        ("subtotal_mape_percent_at_most", mape),
        ("subtotal_max_percent_at_most", own.get("subtotal_max_percent")),
        ("subtotal_mape_points_better_at_least", better),
        (_RATCHET, own.get("component_mape_percent")),
    ):
        drift = Drift(f"budgets.{name}", getattr(budgets, name), value)
        sign = 1 if name.endswith("at_most") else -1
        if drift.difference is None or not sign * drift.difference <= _SLACK_POINTS:
            yield drift


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(f"{path}.{key}", item)
    else:
        yield path, value


def _tolerance(contract: RegressionContract, place: str) -> float:
    for unit in ("seconds", "percent"):
        if place.endswith(f"_{unit}"):
            return float(getattr(contract.tolerances, unit))
    return 0.0


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
