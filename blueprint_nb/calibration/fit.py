"""Fitting a family's parameters to measured kernels: deterministic, by the balanced error of log ratios.

    loss = Σ w · ρ(ln(estimate / measured)) + shrinkage · |x − x_pool|²

First trust-region least squares with a soft L1 loss from a few starts, then steps along single parameters on a lattice
until none lowers the mean |ln ratio|. The second step decides: its result is on the lattice, so that rounding of
another machine or library does not show in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..cost.families import Family
from ..errors import MissingExtraError
from .sample import Sample
from .space import LATTICE, ParameterSpace

OPTIMISER: Final = "least_squares (trf, soft_l1 0.05) then lattice steps of 1/256"
SEED: Final = 20240229
ROWS: Final = 2200
"""Of each sample, at most."""

_SOFT: Final = 0.05
_STEPS: Final = (32, 8, 2, 1)
"""Lattice steps tried along a parameter, the largest first."""

_ROUNDS: Final = 6
"""Of all parameters, for each step."""

_ALTERNATIVES: Final = 8
"""Of each row, the fastest of which a search sees until it is narrowed anew."""

_NARROWINGS: Final = 4


@dataclass(frozen=True)
class Fit:
    """Fitted values and their balanced mean |ln ratio| on the rows fitted to."""

    values: Mapping[str, float]
    loss: float


@dataclass(frozen=True)
class Pool:
    """Values that a fit is drawn to, and how strongly: the loss that a change by a factor e costs."""

    values: Mapping[str, float]
    strength: float


def fit(
    family: Family,
    samples: Sequence[Sample],
    *,
    starts: Sequence[Mapping[str, float]] = (),
    pool: Pool | None = None,
    rows: int = ROWS,
    row_share: float = 0.0,
    evaluations: int = 40,
) -> Fit:
    """Values of `family` for all `samples` together, of which each counts alike, by at most `rows` of each.

    Rows are weighted so that octaves and groups are balanced, but for `row_share` of the weight, alike for all.

    `starts` are values by name; a missing one is the parameter's own start. Raises `MissingExtraError` without scipy.
    """
    objective = _Objective(family, [sample.thinned(rows, SEED) for sample in samples], pool, row_share)
    space = objective.space
    first = {one.name: one.start for one in family.parameters}
    candidates = [_least_squares(objective, space.vector({**first, **start}), evaluations) for start in starts or [{}]]
    best = min((space.on_lattice(vector) for vector in candidates), key=objective.loss)
    best = _lattice_steps(objective, best)
    return Fit(space.values(best), objective.error(best))


def start_pool(family: Family, strength: float) -> Pool:
    """The parameters' own starts as what a fit is drawn to: they hold what no observation tells."""
    return Pool({one.name: one.start for one in family.parameters}, strength)


class _Objective:
    def __init__(self, family: Family, samples: Sequence[Sample], pool: Pool | None, row_share: float) -> None:
        self.space = ParameterSpace(family)
        self._forms = [sample.form or family for sample in samples]
        pairs = zip(self._forms, samples, strict=True)
        self._prepared = [form.prepare(sample.shape, sample.machine) for form, sample in pairs]
        self._measured = [np.log(sample.seconds) for sample in samples]
        balanced = np.concatenate([sample.weights for sample in samples]) / len(samples)
        plain = np.concatenate([np.full(len(sample), 1.0 / len(sample)) for sample in samples]) / len(samples)
        self._weights = (1.0 - row_share) * balanced + row_share * plain
        self._pool = None if pool is None else (self.space.vector(pool.values), pool.strength)

    def near(self, vector: Any) -> _Objective:
        """The same for small steps from `vector`."""
        narrowed = copy(self)
        values = self.space.values(vector)
        pairs = zip(self._forms, self._prepared, strict=True)
        narrowed._prepared = [form.narrowed(one, values, _ALTERNATIVES) for form, one in pairs]
        return narrowed

    def ratios(self, vector: Any) -> Any:
        """ln(estimate / measured) of every row."""
        values = self.space.values(vector)
        rows = zip(self._forms, self._prepared, self._measured, strict=True)
        return np.concatenate([np.log(form.seconds(one, values)) - measured for form, one, measured in rows])

    def residuals(self, vector: Any) -> Any:
        """What least squares minimises the soft L1 of."""
        rows = np.sqrt(self._weights * len(self._weights)) * self.ratios(vector)
        if self._pool is None:
            return rows
        target, strength = self._pool
        return np.concatenate([rows, np.sqrt(strength * len(self._weights)) * (vector - target)])

    def error(self, vector: Any) -> float:
        """Balanced mean |ln ratio|."""
        return float(self._weights @ np.abs(self.ratios(vector)))

    def loss(self, vector: Any) -> float:
        """The error, and what the distance from the pool costs."""
        if self._pool is None:
            return self.error(vector)
        target, strength = self._pool
        return self.error(vector) + strength * float(np.square(vector - target).sum())


def _least_squares(objective: _Objective, start: Any, evaluations: int) -> Any:
    """Rounds of least squares, each on the alternatives that are fastest where it begins."""
    vector = start
    for _ in range(_NARROWINGS):
        vector = _one_search(objective.near(vector), vector, evaluations // _NARROWINGS)
    return vector


def _one_search(objective: _Objective, start: Any, evaluations: int) -> Any:
    try:
        from scipy.optimize import least_squares
    except ImportError:
        raise MissingExtraError(
            "calibrate",
            rule="needs scipy, which is not installed",
            next_step="Run: pip install 'blueprint-nb[evidence]' (in a checkout: pip install '.[evidence]')",
        ) from None
    space = objective.space
    margin = 1e-6 * (space.highest - space.lowest)
    found = least_squares(
        objective.residuals,
        np.clip(start, space.lowest + margin, space.highest - margin),
        bounds=(space.lowest, space.highest),
        loss="soft_l1",
        f_scale=_SOFT,
        max_nfev=evaluations,
        diff_step=1e-3,
    )
    return found.x


def _lattice_steps(objective: _Objective, vector: Any) -> Any:
    best = vector
    for step in _STEPS:
        near = objective.near(best)
        loss = near.loss(best)
        for _ in range(_ROUNDS):
            moved, best, loss = _one_round(near, best, loss, step * LATTICE)
            if not moved:
                break
    return best


def _one_round(objective: _Objective, vector: Any, loss: float, step: float) -> tuple[bool, Any, float]:
    moved = False
    for index in range(len(vector)):
        for direction in (step, -step):
            trial = vector.copy()
            trial[index] += direction
            if not objective.space.lowest[index] <= trial[index] <= objective.space.highest[index]:
                continue
            tried = objective.loss(trial)
            # A gain that rounding could make is none.
            if tried < loss - 1e-9:
                vector, loss, moved = trial, tried, True
                break
    return moved, vector, loss
