"""The bar that is hard to beat: gradient-boosted trees on log(measured / roofline), with features of tiles and waves.

Trees on raw time extrapolate badly; normalised by the roofline they predict an efficiency, which is bounded. What a
GEMM's grid looks like is given to them for two tiles, one large and one flat. Rows count by the square root of what
balances them, which did best on kernels held out, between counting each alone and balancing octaves. LightGBM (a
dependency of the tests alone) runs on one thread with fixed seeds, so that the same rows give the same trees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..cost.families import Family, Machine
from ..errors import MissingExtraError
from .bars_work import work_of
from .predict import Pricing, Training, by_device
from .sample import Sample

_TREES: Final = 400
_SETTINGS: Final = {
    "objective": "regression_l1",
    "learning_rate": 0.05,
    "num_leaves": 31,
    "min_data_in_leaf": 4,
    "seed": 20240229,
    "deterministic": True,
    "force_col_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}

_TILES: Final = ((128, 128), (16, 64))


class Ensemble:
    """roofline · exp(trees)."""

    name = "boosted trees"

    def learned(self, family: Family, training: Training) -> Pricing:
        """Trees for a device, or for all. Raises `MissingExtraError` without LightGBM."""
        lightgbm = _lightgbm()

        def learn(samples: Sequence[Sample]) -> Callable[[Sample], Any]:
            inputs = [_features(family.name, one) for one in samples]
            log_ratios = [np.log(one.seconds / roofline) for one, (roofline, _) in zip(samples, inputs, strict=True)]
            weights = np.sqrt(np.concatenate([one.weights for one in samples]))
            rows = lightgbm.Dataset(
                np.concatenate([features for _, features in inputs]),
                np.concatenate(log_ratios),
                weight=weights / weights.mean(),
                params=_SETTINGS,
            )
            trees = lightgbm.train(_SETTINGS, rows, num_boost_round=_TREES)

            def priced(asked: Sample) -> Any:
                roofline, features = _features(family.name, asked)
                return roofline * np.exp(trees.predict(features, num_threads=1))

            return priced

        return by_device(training, learn)


def _features(family: str, sample: Sample) -> tuple[Any, Any]:
    """Roofline seconds, of shape (rows,), and features, of shape (rows, features)."""
    work = work_of(family, sample.shape, sample.machine)
    features = [
        *(np.log2(np.asarray(size, dtype=np.float64)) for size in sample.shape.values()),
        np.log(work.roofline_seconds),
        np.log((work.operations + 1.0) / work.bytes),
        np.log(work.bytes / sample.machine.l2_bytes),
        *(_grid(sample.shape, sample.machine) if family == "gemm" else _rows(sample.shape, sample.machine)),
    ]
    return work.roofline_seconds, np.stack(features, axis=1)


def _grid(shape: Mapping[str, Any], machine: Machine) -> list[Any]:
    """For each of the tiles: CTAs over units, how full the last wave is, how full the tiles are."""
    rows, columns = (np.asarray(shape[name], dtype=np.float64) for name in ("m", "n"))
    found = []
    for tile_rows, tile_columns in _TILES:
        ctas = np.ceil(rows / tile_rows) * np.ceil(columns / tile_columns)
        waves = ctas / machine.compute_units
        found += [np.log(waves), waves / np.ceil(waves), rows * columns / (ctas * tile_rows * tile_columns)]
    return found


def _rows(shape: Mapping[str, Any], machine: Machine) -> list[Any]:
    """Work items over units, by the first dimension: rows, or sequences."""
    waves = np.asarray(next(iter(shape.values())), dtype=np.float64) / machine.compute_units
    return [np.log(waves), waves / np.ceil(waves)]


def _lightgbm() -> Any:
    try:
        import lightgbm
    # Where the system lacks its OpenMP library, the import fails as an OSError.
    except (ImportError, OSError):
        raise MissingExtraError(
            "boosted trees",
            rule="need lightgbm, which is not installed or can't be loaded",
            next_step="Run: pip install 'blueprint-nb[test]' (in a checkout: '.[test]'), or leave them out.",
        ) from None
    return lightgbm
