"""What a comparison with measured kernels is, in sentences: what it was made from, what it claims, and its means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..analysis.vidur.names import MODELS, stands_for
from ..analysis.vidur.topology import NOT_CLAIMED, REFUSED
from ..cost import CalibrationSet
from ..ir.text import short
from ..units import format_count
from ..validation import VidurExperimentReport
from .error_words import BAND, COMPONENT_MAPE, WORST, cases_text, in_line, size_percent

FLAGS: Final = ("oracle_read_during_lowering", "oracle_read_during_costing", "fit_against_case_outputs")
"""False in every report: an estimate is finished before an oracle opens."""

_LONGEST_REVISION: Final = 20

CLAIM: Final = (
    "Compared are kernel times of single components, on one device and without launch gaps: no host, no queue, no "
    "whole request."
)


def report_sentences(report: VidurExperimentReport) -> tuple[str, ...]:
    """What was measured, what the comparison claims, what parameters were fitted to, and the means of each mode."""
    claims = (CLAIM, *topology_sentences(report), frozen_sentence(report), *fitted_sentences(report))
    return (measured_sentence(report), *claims, *means(report))


def measured_sentence(report: VidurExperimentReport) -> str:
    """Which profile, from which files."""
    baseline = report.baseline
    what = f"Measured: {baseline.model_name} on {baseline.hardware_name} (Vidur)"
    if baseline.attention_backend is not None:
        what += f", attention {baseline.attention_backend} with blocks of {baseline.block_size} tokens"
    files = f"files {', '.join(report.baseline_files)}" if report.baseline_files else "no file"
    revisions = f"source revision {shortened(baseline.source_revision)}, baseline {short(report.baseline_revision)}"
    return f"{what}; {files}; {revisions}."


def shortened(revision: str) -> str:
    """A source's revision: its first characters where it is as long as a digest."""
    return short(revision) if len(revision) > _LONGEST_REVISION else revision or "not given"


def topology_sentences(report: VidurExperimentReport) -> tuple[str, ...]:
    """Whether the profiled block is said to be the estimated one, where anything of it is compared."""
    rows = zip(report.cases["topology_equivalence"].to_list(), report.comparisons, strict=True)
    said = dict.fromkeys(_topology(text, one.frozen.case.model.is_reference) for text, one in rows if one.matched)
    return tuple(said)


def frozen_sentence(report: VidurExperimentReport) -> str:
    """The flags, in words and as the JSON has them."""
    flags = {name: getattr(report, name) for name in FLAGS}
    if any(flags.values()):
        read = ", ".join(name for name, value in flags.items() if value)
        return f"An oracle was read before the estimates were finished: {read}."
    return f"Every estimate was finished before the first look-up: {', '.join(FLAGS)} are false."


def fitted_sentences(report: VidurExperimentReport) -> tuple[str, ...]:
    """What each set of parameters was fitted to that priced a compared component, and whether to the measured model."""
    return tuple(_fitted(one, report.baseline.model_name) for one in report.calibrations)


def _fitted(calibration: CalibrationSet, measured: str) -> str:
    revision = f"{calibration.name} ({short(calibration.revision)})"
    device = f" on {calibration.target}" if calibration.target else ""
    said = f"Calibrated by {revision}: parameters fitted to kernel times of {calibration.source}{device}"
    if not calibration.models:
        return f"{said}; of which models these are, it does not say: {measured}, measured here, may be among them."
    models = ", ".join(calibration.models)
    known = {name for model in calibration.models for name in stands_for(model, MODELS)}
    if known.isdisjoint(stands_for(measured, MODELS)):
        return f"{said}, of {models}; {measured}, measured here, was not among them."
    return f"{said}, of {models}; {measured}, measured here, was among them: its errors are of a fit, not a prediction."


def means(report: VidurExperimentReport) -> tuple[str, ...]:
    """A sentence a mode: system-evidence: subtotal MAPE 23.6 %, component MAPE 54.1 %, …, over 3 cases."""
    return tuple(_mean(row) for row in report.means.to_dicts())


def _topology(equivalence: str, is_reference: bool) -> str:
    if is_reference:
        said = "The template dense-mha stands for no real block: that the profiled one has its topology is not claimed"
    elif equivalence == NOT_CLAIMED:
        said = "Nothing tells the topology of the profiled block: that it is the estimated one's is not claimed"
    elif equivalence == REFUSED:
        said = "The profiled block has other residuals than the estimated one: its compute rows are not compared"
    else:
        said = "The profile's columns do not contradict the residuals of the estimated block; more they do not tell"
    return f"{said} (topology_equivalence = {equivalence})."


def _mean(row: dict[str, Any]) -> str:
    cases, compared = row["case_count"], row["compared_case_count"]
    if not compared:
        return f"{row['mode']}: nothing of {cases_text(cases)} is compared."
    said = (
        f"{row['mode']}: subtotal MAPE {size_percent(row['subtotal_mape_percent'])}, "
        f"{in_line(COMPONENT_MAPE)} {size_percent(row['component_mape_percent'])}, "
        f"{in_line(WORST)} {size_percent(row['component_max_percent'])}, over {cases_text(cases, compared)}"
    )
    return f"{said}; measured within the {BAND}: {in_band_text(row)}." if row["band_count"] else f"{said}."


def in_band_text(row: Mapping[str, Any]) -> str:
    """Of a row of a report's means: 24 of 27 components, 89 %, 3 of 3 subtotals."""
    count, whole = round(row["in_band_share"] * row["band_count"]), row["band_count"]
    said = f"{format_count(count)} of {format_count(whole)} components, {round(100 * row['in_band_share'])} %"
    if row["subtotal_in_band_share"] is None:
        return said
    return f"{said}; {round(100 * row['subtotal_in_band_share'])} % of subtotals"
