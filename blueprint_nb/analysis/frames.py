"""Long tables: views of component-major costs, built when asked for. Imports polars only when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..cost import BOUNDS, CostBlock, Origin, bound_index

if TYPE_CHECKING:
    import polars as pl

TEXT_COLUMNS: Final = ("component", "primitive", "source_layer")
WORK_COLUMNS: Final = ("operations", "read_bytes", "write_bytes", "message_bytes")
TERM_COLUMNS: Final = ("compute_seconds", "memory_seconds", "network_seconds", "floor_seconds")
BAND_COLUMNS: Final = ("low_seconds", "high_seconds")
ORIGIN_COLUMNS: Final = ("provider", "revision", "method", "match")

_UNKNOWN: Final = Origin("", "", "", "")


def component_frame(block: CostBlock, shape: tuple[int, ...], keys: Mapping[str, Any]) -> pl.DataFrame:
    """A row for each (point, component): points in row-major order of `shape`, components in plan order.

    `keys` come first; each is a scalar or an array that broadcasts to `shape`. Then component, primitive, source_layer
    (text), seconds (float64, of one execution), count (int64), operations and bytes (int64), the terms (float64, s),
    bound (compute, memory, network or floor), low_seconds and high_seconds (float64, the band that nine of ten such
    times lie in; null where nobody knows), and where the seconds come from: provider, revision, method, match (text),
    records (their ids, a comma between them), samples (int64), spread_seconds (float64, null where there is none).
    """
    import polars as pl

    activities, costs = block.activity.components, block.costs
    places = np.tile(np.arange(len(activities), dtype=np.uint32), int(np.prod(shape)))
    named = _gathered(
        {
            **{name: pl.Series([getattr(one, name) for one in activities], dtype=pl.String) for name in TEXT_COLUMNS},
            "count": pl.Series([activity.executions for activity in activities], dtype=pl.Int64),
        },
        places,
    )
    columns: dict[str, Any] = {name: _repeated(value, shape, len(activities)) for name, value in keys.items()}
    columns |= {name: named[name] for name in TEXT_COLUMNS}
    columns["seconds"] = _stacked([cost.seconds for cost in costs], shape, np.float64)
    columns["count"] = named["count"]
    for name in WORK_COLUMNS:
        columns[name] = _stacked([getattr(activity, name) for activity in activities], shape, np.int64)
    for name in TERM_COLUMNS:
        columns[name] = _stacked([getattr(cost, name) for cost in costs], shape, np.float64)
    bounds = _stacked([bound_index(activity, cost) for activity, cost in block.priced], shape, np.uint32)
    columns |= _gathered({"bound": pl.Series(BOUNDS, dtype=pl.String)}, bounds)
    for name in BAND_COLUMNS:
        ends = [np.nan if cost.band is None else getattr(cost.band, name) for cost in costs]
        columns[name] = pl.Series(_stacked(ends, shape, np.float64)).fill_nan(None)
    return pl.DataFrame({**columns, **_origin_columns(block, shape)})


def _origin_columns(block: CostBlock, shape: tuple[int, ...]) -> dict[str, pl.Series]:
    import polars as pl

    codes: dict[Origin, int] = {}
    places = []
    for cost in block.costs:
        own = np.array([codes.setdefault(one, len(codes)) for one in cost.origins or (_UNKNOWN,)], dtype=np.uint32)
        places.append(own[cost.origin_index])
    texts = {name: pl.Series([getattr(one, name) for one in codes], dtype=pl.String) for name in ORIGIN_COLUMNS}
    columns = {
        **texts,
        "records": pl.Series([", ".join(one.records) for one in codes], dtype=pl.String),
        "samples": pl.Series([one.samples for one in codes], dtype=pl.Int64),
        "spread_seconds": pl.Series([one.spread_seconds for one in codes], dtype=pl.Float64),
    }
    return _gathered(columns, _stacked(places, shape, np.uint32))


def component_schema() -> dict[str, pl.DataType]:
    """The columns of `component_frame` that are not keys, with their types."""
    import polars as pl

    texts = dict.fromkeys(TEXT_COLUMNS, pl.String())
    seconds, count = {"seconds": pl.Float64()}, {"count": pl.Int64()}
    work = dict.fromkeys(WORK_COLUMNS, pl.Int64())
    terms = dict.fromkeys(TERM_COLUMNS, pl.Float64())
    ends = dict.fromkeys(BAND_COLUMNS, pl.Float64())
    origin = dict.fromkeys((*ORIGIN_COLUMNS, "records"), pl.String())
    of_samples = {"samples": pl.Int64(), "spread_seconds": pl.Float64()}
    return {**texts, **seconds, **count, **work, **terms, "bound": pl.String(), **ends, **origin, **of_samples}


def _repeated(value: Any, shape: tuple[int, ...], times: int) -> Any:
    import polars as pl

    rows = int(np.prod(shape)) * times
    if isinstance(value, str):
        return pl.Series([value]).new_from_index(0, rows)
    return np.repeat(np.broadcast_to(value, shape).reshape(-1), times)


def _gathered(columns: Mapping[str, pl.Series], rows: Any) -> dict[str, pl.Series]:
    """Columns of equal length at `rows` (uint32): all in one go, which takes half as long as one by one."""
    import polars as pl

    found = {name: column.new_from_index(0, len(rows)) for name, column in columns.items() if column.n_unique() == 1}
    varying = {name: column for name, column in columns.items() if name not in found}
    if varying:
        found |= pl.DataFrame(varying)[pl.Series(rows)].to_dict()
    return {name: found[name] for name in columns}


def _stacked(arrays: list[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """One array for each component, each of which broadcasts to `shape`, as a column of rows (point, component)."""
    stacked = np.empty((*shape, len(arrays)), dtype=dtype)
    along = [index for index, array in enumerate(arrays) if np.shape(array)[-1:] not in ((), (1,))]
    if len(along) < len(arrays):
        # What is one along the last axis is written once for all of it, in the order of the memory.
        ones = [0 if index in along else array for index, array in enumerate(arrays)]
        stacked[...] = np.stack([np.broadcast_to(one, (*shape[:-1], 1)) for one in ones], axis=-1)
    for index in along:
        stacked[..., index] = arrays[index]
    return stacked.reshape(-1)
