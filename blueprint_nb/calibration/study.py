"""One family's fit: which kernels are fitted together, what is held out, and what comes of it as a `FamilyFit`.

What a fit is worth is asked of rows that were left out of it, and of the pool that it is drawn to (see `fitting`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..cost.calibration import FamilyFit
from ..cost.families import Collective, Family, Link, Machine
from ..cost.octaves import octave_of
from .errors import Judged, error_figures, estimates
from .fit import fit
from .fitting import Fitting, Values
from .observed import samples_of
from .residuals import HeldOutResiduals, correlation, held_out_residuals
from .sample import Sample
from .starts import starts_of

if TYPE_CHECKING:
    import polars as pl

_STEPS_APART: Final = 10**9
"""Between the numbers of steps of two parts."""

Progress = Callable[[str], None]
"""Told what was just fitted."""

Part = tuple[str, "pl.DataFrame", "pl.DataFrame"]
"""Name, rows to fit to, rows held out."""


@dataclass(frozen=True, eq=False)
class Study:
    """A family's observations of one source key."""

    key: str
    """In `CalibrationSet.families`."""
    forms: tuple[Family, ...]
    """That may time the kernels: the one that fits the rows best is taken."""
    rows: pl.DataFrame
    """Of one device or of several."""
    splits: Mapping[str, Sequence[Part]] = field(default_factory=dict)
    """Name to parts; residuals are those of the first."""
    fitting: Fitting = field(default_factory=Fitting)
    link: Link | None = None
    machine: Machine | None = None
    """Where it is not that of the set."""
    joins_residuals: bool = False
    """Whether a device's band also hears how far off the others were, where few widths can be held out of each."""
    software: str = ""
    """Where it is not that of the set."""

    @property
    def steps(self) -> int:
        """How often `family_fits` tells its progress."""
        return 1 + sum(len(parts) for parts in self.splits.values())


def family_fits(study: Study, targets: Sequence[str] | None, progress: Progress) -> dict[str, FamilyFit]:
    """Device to its fit, of `targets` or all. Raises `MissingExtraError` without scipy."""
    wanted = [name for name in names(study.rows, "target") if targets is None or name in targets]
    if not wanted:
        return {}
    form = _best_form(study)
    values = _values(study, form, study.rows, wanted)
    progress(study.key)
    held_out = {label: _held_out(study, form, parts, wanted, progress) for label, parts in study.splits.items()}
    return {target: _family_fit(study, form, target, values[target], held_out) for target in wanted}


@dataclass(frozen=True, eq=False)
class _Unseen:
    """What was held out of one device by one split."""

    judged: tuple[Judged, ...]
    frames: tuple[pl.DataFrame, ...]
    """Columns for `correlation`."""


def _best_form(study: Study) -> Family:
    if len(study.forms) == 1:
        return study.forms[0]
    losses = [fit(form, samples, starts=starts_of(form, samples)).loss for form, samples in _samples_by_form(study)]
    return study.forms[losses.index(min(losses))]


def _samples_by_form(study: Study) -> Iterator[tuple[Family, list[Sample]]]:
    for form in study.forms:
        yield form, list(samples_of(study.rows, form))


def _values(study: Study, form: Family, rows: pl.DataFrame, targets: Sequence[str]) -> dict[str, Values]:
    """Device to the values that are fitted to `rows`."""
    training = {target: list(samples_of(of(rows, "target", target), form)) for target in names(rows, "target")}
    return study.fitting.of_devices(form, training, targets)


def _held_out(
    study: Study, form: Family, parts: Sequence[Part], targets: Sequence[str], progress: Progress
) -> dict[str, _Unseen]:
    """Device to what fits without each part say of its rows."""
    judged: dict[str, list[Judged]] = {}
    frames: dict[str, list[pl.DataFrame]] = {}
    for number, (name, train, test) in enumerate(parts):
        values = _values(study, form, train, targets) if len(train) else {}
        for target in values:
            rows = of(test, "target", target)
            if len(rows):
                fitted_to = ranges(list(samples_of(of(train, "target", target), form)), form)
                samples = list(samples_of(rows, form, each_row=True))
                judged.setdefault(target, []).append(Judged.of(form, samples, values[target], number, fitted_to))
                if rows["component"].n_unique() > 1:
                    frames.setdefault(target, []).append(_steps(rows, form, values[target], number))
        progress(f"{study.key}, without {name or 'any'}")
    return {target: _Unseen(tuple(judged[target]), tuple(frames.get(target, ()))) for target in judged}


def _steps(rows: pl.DataFrame, form: Family, values: Mapping[str, float], number: int) -> pl.DataFrame:
    """Rows held out as `correlation` wants them."""
    import polars as pl

    (sample, *_) = samples_of(rows, form)
    shape = {name: rows[name].to_numpy() for name in form.dimensions}
    seconds = rows["seconds"].to_numpy()
    octave = octave_of(shape[form.size])
    estimated = estimates(form, Sample(sample.machine, shape, seconds, octave, octave, sample.form), values)
    _, model = np.unique(rows["model"].to_numpy(), return_inverse=True)
    named = np.stack([model, rows["tensor_parallel"].to_numpy(), shape[form.size]])
    _, step = np.unique(named, axis=1, return_inverse=True)
    return pl.DataFrame(
        {
            "step": step.reshape(-1) + number * _STEPS_APART,
            "component": rows["component"],
            "octave": octave,
            "residual": np.log(seconds / estimated),
        }
    )


def _family_fit(
    study: Study, form: Family, target: str, values: dict[str, float], held_out: Mapping[str, Mapping[str, _Unseen]]
) -> FamilyFit:
    import polars as pl

    rows = of(study.rows, "target", target)
    samples = list(samples_of(rows, form, each_row=True))
    seen = Judged.of(form, samples, values)
    unseen = {label: found[target] for label, found in held_out.items() if target in found}
    by_label = {label: Judged.joined(one.judged) for label, one in unseen.items()}
    first = next(iter(by_label), "")
    others = [Judged.joined(one.judged) for name, one in held_out.get(first, {}).items() if name != target]
    residuals = HeldOutResiduals()
    if first:
        residuals = held_out_residuals(by_label[first], seen, others if study.joins_residuals else ())
    frames = next((one.frames for one in unseen.values()), ())
    return FamilyFit(
        values=values,
        kernel=getattr(form, "kernel", ""),
        link=study.link,
        own_bytes=form.own_bytes if isinstance(form, Collective) else 0,
        ranges=ranges(samples, form),
        datatypes=tuple(names(rows, "datatype")),
        observations_digest=digest(rows),
        in_sample=error_figures(seen),
        held_out={label: error_figures(one) for label, one in by_label.items()},
        **residuals.fields,
        correlation=correlation(pl.concat(frames)) if frames else 1.0,
        machine=study.machine,
        software=study.software,
    )


def ranges(samples: Sequence[Sample], form: Family) -> dict[str, tuple[int, int]]:
    """Dimension to the smallest and largest of all samples."""

    def ends(axis: str) -> tuple[int, int]:
        columns: list[Any] = [one.shape[axis] for one in samples]
        return min(int(one.min()) for one in columns), max(int(one.max()) for one in columns)

    return {axis: ends(axis) for axis in form.dimensions}


def digest(rows: pl.DataFrame) -> str:
    """SHA-256 over file, record, component and seconds of every row, whatever their order."""
    columns = rows.select("file_sha256", "record", "component", "seconds")
    lines = sorted("\t".join(str(value) for value in row) for row in columns.iter_rows())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def of(frame: pl.DataFrame, column: str, value: str) -> pl.DataFrame:
    """The rows with `value` in `column`."""
    return frame.filter(frame[column] == value)


def names(frame: pl.DataFrame, column: str) -> list[str]:
    """Distinct texts of a column, sorted."""
    return [str(value) for value in frame[column].unique().sort()]
