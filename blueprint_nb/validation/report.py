"""What an experiment found: frames of cases and components, means, and all of it as JSON.

Errors are in percent, signed where they are errors and absolute where they are means; coverage is a fraction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from .._canonical import canonical_json, plain
from ..analysis.vidur import BaselineIdentity
from ..cost import CalibrationSet
from ..version import __version__
from .comparison import CaseComparison
from .frames import case_frame, component_frame, mean_frame
from .freeze import FrozenCases
from .pricing import CALIBRATED

if TYPE_CHECKING:
    import polars as pl

SCHEMA: Final = "blueprint-nb/vidur-experiment/1"

_SAID_OF_A_CALIBRATION: Final = ("name", "revision", "target", "source", "source_revision", "models")


@dataclass(frozen=True, eq=False)
class VidurExperimentReport:
    """The comparisons of an experiment, in the order of its cases, and what they were made from."""

    frozen: FrozenCases
    comparisons: tuple[CaseComparison, ...]
    baseline: BaselineIdentity
    baseline_revision: str
    files: tuple[tuple[str, str], ...]
    """(Kind of file, SHA-256 of its bytes)."""

    @property
    def baseline_files(self) -> dict[str, str]:
        """Kind of file to the SHA-256 of its bytes."""
        return dict(self.files)

    @property
    def modes(self) -> list[str]:
        """The modes of all cases, in order of appearance."""
        return list(dict.fromkeys(one.mode for one in self.comparisons))

    @property
    def by_case(self) -> Mapping[str, tuple[CaseComparison, ...]]:
        """Name of each case to its comparisons, one a mode, both in order; read-only."""
        return MappingProxyType(self._by_case)

    @cached_property
    def _by_case(self) -> dict[str, tuple[CaseComparison, ...]]:
        """A dict, for a read-only view of one can't be pickled."""
        grouped: dict[str, list[CaseComparison]] = {}
        for one in self.comparisons:
            grouped.setdefault(one.frozen.case.name, []).append(one)
        return {name: tuple(group) for name, group in grouped.items()}

    @property
    def calibrations(self) -> tuple[CalibrationSet, ...]:
        """The sets of parameters that priced a compared component, each once."""
        priced = {part.origin.provider for one in self.comparisons for part in one.matched if part.origin is not None}
        sets = {
            (one.name, one.revision): one
            for case in self.frozen.cases
            for one in case.calibrations
            if f"{CALIBRATED}:{one.name}" in priced
        }
        return tuple(sets.values())

    @property
    def oracle_read_during_lowering(self) -> bool:
        """Whether an oracle was read while cases were lowered, as a thread of its own could: others are refused."""
        return self.frozen.oracle_reads_during_lowering > 0

    @property
    def oracle_read_during_costing(self) -> bool:
        """Whether an oracle was read while plans were priced, as a thread of its own could: others are refused."""
        return self.frozen.oracle_reads_during_costing > 0

    @property
    def fit_against_case_outputs(self) -> bool:
        """Whether an oracle was read before all estimates were frozen, so that one may be fitted to a reference."""
        return self.oracle_read_during_lowering or self.oracle_read_during_costing

    @property
    def cases(self) -> pl.DataFrame:
        """A row for each case and mode. Figures are of one decoder block; those that nothing covers are null.

        Columns: case, mode, model, hardware, phase, datatype (text), tensor_parallel, pipeline_parallel, batch_size
        (sequences), context_tokens, component_count, matched_count, flagged_count (int64), coverage (float64, matched
        components over all, a fraction), block_seconds (float64, estimated), comparable_seconds (estimated, of matched
        components), reference_seconds (measured, of the same), excluded_seconds (estimated, of the others),
        subtotal_error_seconds, subtotal_error_percent (signed, comparable less reference), component_mape_percent,
        component_max_percent (mean and largest of the matched components' absolute errors), band_count (int64, matched
        components with a 90 % band), in_band_share (float64, of these, those whose measurement lies in it, a fraction),
        subtotal_low_seconds, subtotal_high_seconds (the band of comparable_seconds), subtotal_in_band (bool),
        topology_equivalence (what may be said of the block that was measured), model_digest, distributed_digest,
        portable_plan_digest, bound_plan_digest, hardware_revision, baseline_revision (text). Of bands, all but the
        count are null in modes without one.
        """
        return self._frames[0].clone()

    @property
    def components(self) -> pl.DataFrame:
        """A row for each component of each case and mode, in plan order; seconds are of one execution.

        Columns: case, mode, component, primitive, source_layer (text), in_block (bool, whether it is part of a decoder
        block), state (matched, flagged or not-covered), seconds (float64, estimated), reference_seconds (measured, the
        median), error_seconds, error_percent (signed, estimate less reference), samples (int64, rows of the median),
        spread_seconds (largest less smallest of these rows), operator (Vidur's name of what was timed), reason (why it
        is not matched, else empty), note (what a reader should know about the reference), low_seconds,
        high_seconds (the 90 % band of the estimate), in_band (bool, whether reference_seconds lies in it), provider,
        revision (who priced it, and the digest of what it went by), match (how it meets the parameters' range; text).
        Where nothing was measured, reference_seconds, errors and spread are null; operator is, where none was looked
        for; the band is, in modes without one, and in_band where either is missing.
        """
        return self._frames[1].clone()

    @property
    def means(self) -> pl.DataFrame:
        """A row for each mode. Coverage is a mean over all its cases, all else is over those with a matched component.

        Columns: mode (text), case_count, compared_case_count (int64, cases, and those with a matched component),
        coverage (float64, a fraction), subtotal_mape_percent, subtotal_max_percent (mean and largest absolute error of
        the cases' subtotals), component_mape_percent (mean of the cases' component MAPE), component_max_percent
        (largest absolute error of a component), band_count (int64, matched components with a 90 % band),
        in_band_share, subtotal_in_band_share (float64, of these, and of the cases' subtotals, those whose measurement
        lies in it, fractions). Percentages are null where no case is compared, shares where there is no band.
        """
        return self._frames[2].clone()

    @cached_property
    def _frames(self) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """Cases, components, means; what leaves here is a copy, for a frame can be written to."""
        cases = case_frame(self.comparisons, self.baseline_revision)
        return cases, component_frame(self.comparisons), mean_frame(self.comparisons, self.modes)

    def to_json(self) -> str:
        """Provenance, baseline, means, and each case with its components, as canonical JSON."""
        return canonical_json(self.content)

    @property
    def content(self) -> dict[str, Any]:
        """JSON data of the whole report."""
        components = self.components.partition_by(
            ["case", "mode"], as_dict=True, maintain_order=True, include_key=False
        )
        cases = [
            {**row, "components": components[row["case"], row["mode"]].to_dicts()} for row in self.cases.to_dicts()
        ]
        return {
            "schema": SCHEMA,
            "version": __version__,
            "oracle_read_during_lowering": self.oracle_read_during_lowering,
            "oracle_read_during_costing": self.oracle_read_during_costing,
            "fit_against_case_outputs": self.fit_against_case_outputs,
            "baseline": {
                **plain(self.baseline),
                "revision": self.baseline_revision,
                "files": self.baseline_files,
            },
            "calibrations": [
                {name: getattr(one, name) for name in _SAID_OF_A_CALIBRATION} for one in self.calibrations
            ],
            "means": self.means.to_dicts(),
            "cases": cases,
        }
