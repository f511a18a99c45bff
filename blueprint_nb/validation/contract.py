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
    """Tells the case from the others of the contract."""
    phase: Phase
    """Prefill or decode."""
    batch_size: Count
    """Sequences."""
    context_tokens: Count
    """Visible context of each."""


class Budgets(Record):
    """What figures of one mode may be at most, or must be at least: coverage of the worst case, the rest of means."""

    mode: Mode
    """The mode that is held to them."""
    compared_with: Mode
    """The mode it must be better than."""
    coverage_at_least: Number
    """Matched components over all of a block, a fraction; of the case with the least."""
    subtotal_mape_percent_at_most: Number
    """Mean of the cases' absolute errors of their subtotals."""
    subtotal_max_percent_at_most: Number
    """The largest absolute error of a case's subtotal."""
    subtotal_mape_points_better_at_least: Number
    """Subtotal MAPE of `compared_with` less that of `mode` (percentage points)."""
    component_mape_percent_at_most: Number
    """The reviewed value itself: a ratchet, lowered with it."""


class Tolerances(Record):
    """How far a value may be from the reviewed one. All others must be equal."""

    seconds: Number
    """Of a value whose name ends in `_seconds`."""
    percent: Number
    """Of one whose name ends in `_percent`, in percentage points."""


class ModeFigures(Record):
    """Reviewed figures of one case in one mode; as the columns of a report's `cases`."""

    component_count: Count
    """Components of a decoder block."""
    matched_count: Count
    """Those of them that have a reference to rely on."""
    coverage: Number
    """Matched components over all, a fraction."""
    block_seconds: Number
    """Estimated, of one block."""
    reference_seconds: Number
    """Measured, of the matched components."""
    comparable_seconds: Number
    """Estimated, of the matched components."""
    excluded_seconds: Number
    """Estimated, of the other components."""
    subtotal_error_percent: Number
    """Signed: comparable less reference, of the reference."""
    component_mape_percent: Number
    """Mean of the matched components' absolute errors."""
    component_max_percent: Number
    """Largest of the matched components' absolute errors."""


class CaseFigures(Record):
    """Reviewed digests and figures of one case."""

    portable_plan_digest: Text
    """Of the plan and its workload."""
    bound_plan_digest: Text
    """Of the same with its implementation."""
    modes: dict[Mode, ModeFigures]
    """Figures of each mode."""


class MeanFigures(Record):
    """Reviewed means in one mode: coverage over all cases, the rest over those compared; as a report's `means`."""

    compared_case_count: Count
    """Cases with a matched component."""
    coverage: Number
    """Mean of all cases' coverage, a fraction."""
    subtotal_mape_percent: Number
    """Mean of the absolute errors of subtotals."""
    subtotal_max_percent: Number
    """Largest of them."""
    component_mape_percent: Number
    """Mean of the cases' component MAPE."""
    component_max_percent: Number
    """Largest absolute error of a component."""


class Reviewed(Record):
    """Where the figures come from, and the figures."""

    oracle_read_during_lowering: Flag
    """Whether an oracle was read while cases were lowered."""
    oracle_read_during_costing: Flag
    """Whether an oracle was read while plans were priced."""
    fit_against_case_outputs: Flag
    """Whether an estimate can have been fitted to a reference: where either is so."""
    topology_equivalence: Text
    """What may be said of the block that was measured."""
    baseline_revision: Text
    """Digest of the baseline's files and identity."""
    baseline_files: dict[Text, Text]
    """Kind of file to the SHA-256 of its bytes."""
    hardware_revision: Text
    """Digest of the system."""
    model_digest: Text
    """Of the model's IR."""
    distributed_digest: Text
    """Of the IR that is spread over the mapping."""
    means: dict[Mode, MeanFigures]
    """Means of each mode."""
    cases: dict[Text, CaseFigures]
    """Name of each case to its figures."""


class RegressionContract(Record):
    """An experiment, its budgets and its reviewed figures. Raises `InvalidInputError`."""

    name: Text
    """That of its file."""
    claims: Text
    """What it means that the contract holds."""
    slice: Text = EMBEDDED_SLICE
    """The measured profile, of those that ship with the project."""
    model: Text
    """The model's name, or the path of its file; of all cases, as what follows."""
    system: Text
    """The system's name, or the path of its file."""
    datatype: Datatype
    """Of weights, activations and KV cache."""
    tensor_parallel: Count
    """Ranks of a stage."""
    pipeline_parallel: Count
    """Stages."""
    cases: tuple[ContractCase, ...]
    """In the order in which they run."""
    budgets: Budgets
    """What the figures may not exceed."""
    tolerances: Tolerances
    """How far the figures may be from the reviewed ones."""
    reviewed: Reviewed
    """The figures that somebody looked at."""

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
