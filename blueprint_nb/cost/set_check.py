"""What a calibration set must hold so that its forms can be asked: the right names, within their bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ..errors import InvalidInputError, one_of, shown
from ..workload import DATATYPES
from .calibration import CalibrationSet, FamilyFit, OctaveResiduals
from .families import Family, Link, form_of

_ROUNDING: Final = 1e-5
"""Values are written with six digits, so that one at its bound may lie as far beyond it."""

_LARGEST_OCTAVE: Final = 60
_LARGEST_RESIDUAL: Final = 20.0

_ANY_LINK: Final = Link(bytes_per_second=1e9)
"""Stands for a collective's: names and bounds are the same for all."""


def check_set(calibration: CalibrationSet) -> None:
    """Raises `InvalidInputError` for the first family that its form can't take, `UnknownNameError` for one that has no
    form, and for an unknown datatype of its own.
    """
    for key, fit in calibration.families.items():
        family = key.partition("@")[0]
        name, is_own, datatype = family.partition(":")
        if is_own:
            one_of(f"datatype of families.{key}", datatype, DATATYPES)
        form = form_of(name, kernel=fit.kernel, link=_ANY_LINK, own_bytes=fit.own_bytes)
        field = f"families.{key}"
        _check_names(f"{field}.values", fit.values, [one.name for one in form.parameters])
        _check_names(f"{field}.ranges", fit.ranges, form.dimensions)
        _check_bounds(field, fit, form)


def check_name(calibration: CalibrationSet, file_name: str) -> None:
    """Raises `InvalidInputError` unless the set goes by the name of its file, by which profiles ask for it."""
    if file_name != f"{calibration.name}.json":
        rule = f"must be {file_name.removesuffix('.json')}, as the file is called"
        next_step = "Rename or restore the file."
        raise InvalidInputError("name", got=shown(calibration.name), rule=rule, next_step=next_step)


def _check_names(field: str, found: Iterable[str], known: Iterable[str]) -> None:
    names, wanted = sorted(found), sorted(known)
    if names != wanted:
        rule = f"must have {', '.join(wanted)}, and no others"
        raise InvalidInputError(field, got=", ".join(names), rule=rule, next_step="Restore or refit the file.")


def _check_bounds(field: str, fit: FamilyFit, form: Family) -> None:
    for one in form.parameters:
        value = fit.values[one.name]
        if not one.lowest - _ROUNDING * abs(one.lowest) <= value <= one.highest + _ROUNDING * abs(one.highest):
            rule = f"must lie from {one.lowest:.6g} to {one.highest:.6g}"
            raise InvalidInputError(f"{field}.values.{one.name}", got=f"{value:.6g}", rule=rule)
    for name, (lowest, highest) in fit.ranges.items():
        if lowest > highest:
            rule = "must be the smallest and the largest"
            raise InvalidInputError(f"{field}.ranges.{name}", got=f"{lowest:,} and {highest:,}", rule=rule)
    _check_residuals(f"{field}.residuals", fit.residuals)


def _check_residuals(field: str, residuals: Sequence[OctaveResiduals]) -> None:
    for one in residuals:
        if one.octave > _LARGEST_OCTAVE or not 1 << one.octave <= one.size < 2 << one.octave:
            rule = f"must have an octave up to {_LARGEST_OCTAVE} and a size within it"
            raise InvalidInputError(field, got=f"octave {one.octave}, size {one.size:.6g}", rule=rule)
        if not one.widened <= one.reach <= _LARGEST_RESIDUAL:
            rule = f"must reach from what it was widened by to {_LARGEST_RESIDUAL}"
            got = f"octave {one.octave}, {one.reach} widened by {one.widened}"
            raise InvalidInputError(field, got=got, rule=rule)
    octaves = [one.octave for one in residuals]
    if len(set(octaves)) < len(octaves):
        got = ", ".join(map(str, sorted(octaves)))
        raise InvalidInputError(field, got=f"octaves {got}", rule="must have each octave once")
