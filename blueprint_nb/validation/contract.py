"""A regression contract: an experiment, what its figures may not exceed, and the figures that were reviewed.

A contract claims provenance, coverage and the detection of drift, and nothing else: reviewed values are those that the
project had when somebody looked, not those that are right. Nothing writes a contract; a person changes it, with the
reason in the commit message.
"""

from __future__ import annotations

from typing import Final, Self

from pydantic import model_validator

from .._schema import Count, Flag, Number, Record, Text
from ..analysis.vidur import EMBEDDED_SLICE
from ..catalog import load_model, load_system, profiles_folder, read_record
from ..cost import Mode
from ..errors import InvalidInputError, one_of
from ..mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from ..workload.datatype import Datatype
from .case import Phase, VidurExperimentCase

BASELINE_REGRESSION: Final = "baseline_regression"
"""The contract of the slice that ships with the project."""


class ContractCase(Record):
    """One case of the experiment: batch 1 and context 33 of a decode step, for example."""

    name: Text
    phase: Phase
    batch_size: Count
    """Sequences."""
    context_tokens: Count
    """Visible context of each."""


class Budgets(Record):
    """What the means over all cases of one mode may be at most, or must be at least."""

    mode: Mode
    """The mode that is held to them."""
    compared_with: Mode
    """The mode it must be better than."""
    coverage_at_least: Number
    """Matched components over all of a block, a fraction; of the case with the least."""
    subtotal_mape_percent_at_most: Number
    subtotal_max_percent_at_most: Number
    """The largest absolute error of a case's subtotal."""
    subtotal_mape_points_better_at_least: Number
    """Subtotal MAPE of `compared_with` less that of `mode` (percentage points)."""
    component_mape_percent_at_most: Number
    """The reviewed value itself: a ratchet, lowered with it."""


class Tolerances(Record):
    """How far a value may be from the reviewed one. All others must be equal."""

    seconds: Number
    percent: Number
    """Percentage points."""


class ModeFigures(Record):
    """Reviewed figures of one case in one mode; as the columns of a report's `cases`."""

    component_count: Count
    matched_count: Count
    coverage: Number
    block_seconds: Number
    reference_seconds: Number
    comparable_seconds: Number
    excluded_seconds: Number
    subtotal_error_percent: Number
    component_mape_percent: Number
    component_max_percent: Number


class CaseFigures(Record):
    """Reviewed digests and figures of one case."""

    portable_plan_digest: Text
    bound_plan_digest: Text
    modes: dict[Mode, ModeFigures]


class MeanFigures(Record):
    """Reviewed means over all cases in one mode; as the columns of a report's `means`."""

    compared_case_count: Count
    coverage: Number
    subtotal_mape_percent: Number
    subtotal_max_percent: Number
    component_mape_percent: Number
    component_max_percent: Number


class Reviewed(Record):
    """Where the figures come from, and the figures."""

    oracle_read_during_lowering: Flag
    oracle_read_during_costing: Flag
    fit_against_case_outputs: Flag
    topology_equivalence: Text
    baseline_revision: Text
    baseline_files: dict[Text, Text]
    """Kind of file to the SHA-256 of its bytes."""
    hardware_revision: Text
    model_digest: Text
    distributed_digest: Text
    means: dict[Mode, MeanFigures]
    cases: dict[Text, CaseFigures]


class RegressionContract(Record):
    """An experiment, its budgets and its reviewed figures. Raises `InvalidInputError`."""

    name: Text
    claims: Text
    """What it means that the contract holds."""
    slice: Text = EMBEDDED_SLICE
    """The measured profile, of those that ship with the project."""
    model: Text
    system: Text
    datatype: Datatype
    tensor_parallel: Count
    pipeline_parallel: Count
    cases: tuple[ContractCase, ...]
    budgets: Budgets
    tolerances: Tolerances
    reviewed: Reviewed

    @model_validator(mode="after")
    def _component_mape_is_a_ratchet(self) -> Self:
        mode, budget = self.budgets.mode, self.budgets.component_mape_percent_at_most
        means = self.reviewed.means.get(mode)
        if means is None or abs(means.component_mape_percent - budget) > self.tolerances.percent:
            raise InvalidInputError(
                "budgets.component_mape_percent_at_most",
                got=repr(budget),
                rule=f"must be reviewed.means.{mode}.component_mape_percent: it is a ratchet",
                next_step="Lower both together.",
            )
        return self

    def experiment_cases(self) -> list[VidurExperimentCase]:
        """The cases to run. Raises `InvalidInputError` where they can't be estimated."""
        model, system = load_model(self.model), load_system(self.system)
        mapping = TransformerInferenceMappingSpec(
            tensor_parallel=self.tensor_parallel, pipeline_parallel=self.pipeline_parallel
        )
        return [
            VidurExperimentCase(
                name=case.name,
                model=model,
                mapping=mapping,
                network_binding=NetworkTierBinding(),
                datatype=self.datatype,
                hardware=system,
                phase=case.phase,
                batch_size=case.batch_size,
                context_tokens=case.context_tokens,
            )
            for case in self.cases
        ]


def contract_names() -> tuple[str, ...]:
    """Names of the contracts that ship with the project, sorted."""
    return tuple(sorted(path.stem for path in (profiles_folder() / "contracts").glob("*.json")))


def load_contract(name: str = BASELINE_REGRESSION) -> RegressionContract:
    """A contract by name. Raises `UnknownNameError`, and else as `read_record`."""
    path = profiles_folder() / "contracts" / f"{one_of('contract', name, contract_names())}.json"
    return read_record(path, RegressionContract)
