"""What stands behind figures of the mode `calibrated`, in words: sets, families, their errors on kernels never seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..analysis import Estimate
from ..analysis.bands import BAND_NAME, CHANCE
from ..analysis.fits import UsedFit, fit_of
from ..analysis.priced_by import family_name, origin_of, shares_of
from ..analysis.step import Step, step_of
from ..cost.calibration import CalibrationSet, ErrorFigures, FamilyFit
from ..units import NO_FIGURE, format_count, format_percent
from .component_names import component_name

_DIGEST: Final = 12
"""Signs of a digest that tell it apart."""

_IN_RANGE: Final = "in range"


@dataclass(frozen=True, slots=True)
class SetRow:
    """A calibration set that priced something."""

    name: str
    share: str
    """Of the time of the last decode step, or of the prefill where there is none."""
    device: str
    software: str
    source: str
    revision: str


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """Errors on some kernels, in percent of the measured time."""

    kernels: str
    mean: str
    balanced: str
    p90: str
    largest: str


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """A kernel family of this request, and what its parameters are worth."""

    family: str
    calibration: str
    rows: str
    """Measurements that were fitted to."""
    errors: tuple[ErrorLine, ...]
    """On what was fitted to, and on what each split kept out."""
    coverage: str
    """Of the 90 % band among kernels kept out; "–" where nothing tells."""
    asked: str
    """How the components of this request meet what was observed."""


@dataclass(frozen=True, slots=True)
class CalibrationSection:
    """Everything about it."""

    basis: str
    """The sets in one sentence."""
    sets: list[SetRow]
    families: list[FamilyRow]
    statements: list[str]


def calibration_section(estimate: Estimate) -> CalibrationSection | None:
    """What priced an estimate, or a part of it; None where no calibration did."""
    sets, basis = set_rows(estimate), estimate.verdict.basis
    if not sets:
        return None
    said = f"{basis[:1].upper()}{basis[1:]}." if basis else "A part of this estimate is calibrated."
    return CalibrationSection(said, sets, family_rows(estimate), statements())


def set_rows(estimate: Estimate) -> list[SetRow]:
    """The sets that priced this request, the largest share first."""
    last = _steps(estimate)[0].costs
    shares = {share.name: share.seconds / float(last.seconds) for share in shares_of(last)}
    found = {used.calibration.name: used.calibration for used, *_ in _used(estimate)}
    rows = [_set_row(one, shares.get(name, 0.0)) for name, one in found.items()]
    return sorted(rows, key=lambda row: -shares.get(row.name, 0.0))


def family_rows(estimate: Estimate) -> list[FamilyRow]:
    """The families that priced it, by set, in the order of the plan."""
    asked: dict[tuple[str, str, str], dict[str, dict[str, str]]] = {}
    fits: dict[tuple[str, str, str], UsedFit] = {}
    for used, component, phase, match in _used(estimate):
        key = (used.calibration.name, used.family, used.fit.observations_digest)
        fits.setdefault(key, used)
        asked.setdefault(key, {}).setdefault(component, {})[phase] = match
    return [_family_row(used, asked[key]) for key, used in fits.items()]


def statements() -> list[str]:
    """What a band means, and what it does not."""
    return [
        f"A {BAND_NAME} is what {CHANCE} of times are expected to lie in, by the errors on kernels that were kept out "
        "of the fit. Errors of one family go together as far as was measured, those of different families do not; a "
        "component errs alike in all its executions.",
        "What it covers was counted on kernels kept out with one part of the first split, by the band that the other "
        "parts would have made.",
        "Further above the range that was observed than the kernels that were kept out, a band is half as wide again "
        "for each doubling of a size, below it by a quarter, and twice as wide for parameters that are borrowed from "
        "another family; never over four times. These factors are estimates.",
        "A profiler repeats its call, so that it finds a small KV cache on the chip; the band of attention decode "
        "reaches up to the time with all of it in the memory.",
        "A band holds for kernel times one after the other. It leaves out what is named under Limits.",
    ]


def _set_row(calibration: CalibrationSet, share: float) -> SetRow:
    software = " ".join(filter(None, [calibration.software, calibration.software_version]))
    return SetRow(
        name=calibration.name,
        share=format_percent(share),
        device=_fitted_to(calibration),
        software=software,
        source=calibration.sources,
        revision=calibration.revision[:_DIGEST],
    )


def _fitted_to(calibration: CalibrationSet) -> str:
    """ "h100, kernels of 7 models"."""
    device = calibration.target or "several devices"
    models = len(calibration.models)
    return f"{device}, kernels of {models} {'model' if models == 1 else 'models'}" if models else device


def _family_row(used: UsedFit, asked: dict[str, dict[str, str]]) -> FamilyRow:
    fit = used.fit
    named = family_name(used.family)
    kernel = f", {fit.kernel.replace('_', ' ')}" if fit.kernel else ""
    software = f", {fit.software}" if fit.software else ""
    return FamilyRow(
        family=f"{named[:1].upper()}{named[1:]}{kernel}{software}",
        calibration=used.calibration.name,
        rows=format_count(fit.in_sample.rows),
        errors=(
            _errors("fitted to", fit.in_sample),
            *(_errors(split, figures) for split, figures in fit.held_out.items()),
        ),
        coverage=_coverage(fit),
        asked="; ".join(_asked(asked)),
    )


def _errors(kernels: str, figures: ErrorFigures) -> ErrorLine:
    means = (figures.mape_percent, figures.balanced_mape_percent, figures.p90_percent, figures.max_percent)
    return ErrorLine(kernels, *map(_percent, means))


def _coverage(fit: FamilyFit) -> str:
    return NO_FIGURE if fit.coverage_percent is None else _percent(fit.coverage_percent)


def _asked(matches: dict[str, dict[str, str]]) -> list[str]:
    """ "in range", "Input norm, Final norm: outside range: rows (prefill)": with the phase where the two differ."""
    named: dict[tuple[str, str], list[str]] = {}
    for component, by_phase in matches.items():
        alike = len(set(by_phase.values())) == 1
        for phase, match in by_phase.items():
            names = named.setdefault((match, "" if alike else f" ({phase})"), [])
            if component not in names:
                names.append(component)
    in_range = [_IN_RANGE] if any(match == _IN_RANGE for match, _ in named) else []
    others = (
        f"{', '.join(names)}: {match.removesuffix(f', {_IN_RANGE}')}{phase}"
        for (match, phase), names in named.items()
        if match != _IN_RANGE
    )
    return [*in_range, *others]


def _percent(value: float) -> str:
    return format_percent(value / 100)


def _steps(estimate: Estimate) -> list[Step]:
    phases = ("decode", "prefill") if estimate.has_decode else ("prefill",)
    return [step_of(estimate, phase) for phase in phases]


def _used(estimate: Estimate) -> Iterator[tuple[UsedFit, str, str, str]]:
    """(parameters, component, phase, how they meet it) of every component of the prefill and the last decode step."""
    for step in _steps(estimate):
        for activity, cost in step.costs.priced:
            used, origin = fit_of(estimate.inputs, activity, cost), origin_of(cost)
            if used is not None and origin is not None:
                yield used, component_name(activity.component), str(step.phase), origin.match
