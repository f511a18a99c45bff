"""Sweeps: the same forms as a plan's, evaluated on arrays over the full product of mapping, batch and context.

Every mapping has a template of its own; within it a component is evaluated on the distinct values of what it depends
on, as arrays of shape (batch, 1), (1, context) or (batch, context).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..cost import CostBlock, CostProvider, template_activity
from ..errors import InvalidInputError
from ..mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from ..system import SystemProfile
from ..workload import InferencePhase, TransformerModelSpec
from .axes import check_points
from .checks import check_network, context_rule
from .frames import BAND_COLUMNS, component_frame, component_schema
from .lowering import lower
from .memory import MemoryParts, fullest_stage
from .phase import price
from .points import phase_statistics
from .unasked import Unasked

if TYPE_CHECKING:
    import polars as pl

AXES: Final = ("tensor_parallel", "pipeline_parallel", "batch_size", "context_tokens")


@dataclass(frozen=True)
class SweepInputs:
    """What a sweep runs over. Axes are int64 arrays of shape (n,)."""

    model: TransformerModelSpec
    system: SystemProfile
    network: NetworkTierBinding
    datatype: str
    phase: InferencePhase
    attention: str
    provider: CostProvider
    tensor_parallel: Any
    pipeline_parallel: Any
    batch_size: Any
    context_tokens: Any
    unasked: Unasked | None = None
    """Is shown all that is priced."""


@dataclass(frozen=True)
class MappingGrid:
    """All points of one mapping, as arrays that broadcast to (batch, context); nothing where it is not legal."""

    tensor_parallel: int
    pipeline_parallel: int
    reason: str | None
    costs: CostBlock | None = None
    held: MemoryParts | None = None


def sweep_points(inputs: SweepInputs) -> pl.DataFrame:
    """A row for each point of the full product, the last axis fastest.

    Columns: the axes (int64), feasible (bool), reason (text), seconds (float64), low_seconds and high_seconds (float64,
    the band that nine of ten such times lie in; null where nobody knows), fits (bool), total_bytes, kv_cache_bytes,
    weights_bytes (int64, of the fullest device), devices (int64). Points that are not feasible have nulls and a
    reason. Raises `InvalidInputError` where a count could pass 2^63, `UnsupportedError` where the system lacks a
    figure.
    """
    import polars as pl

    shape = (len(inputs.batch_size), len(inputs.context_tokens))
    usable = inputs.system.memory.usable_bytes
    return pl.concat(_point_rows(inputs, grid, shape, usable) for grid in mapping_grids(inputs))


def sweep_components(inputs: SweepInputs) -> pl.DataFrame:
    """A row for each (point, component); columns: the axes, feasible, reason, then those of `component_frame`.

    A point that is not feasible has one row, with nulls and a reason.
    """
    import polars as pl

    frames = [_component_rows(inputs, grid) for grid in mapping_grids(inputs)]
    return pl.concat(frames)


def mapping_grids(inputs: SweepInputs) -> Iterator[MappingGrid]:
    """The costs and memory of each (TP, PP), in the order of the axes.

    What is wrong for every mapping is an error, what is wrong for one is its reason.
    """
    check_network(inputs.system, TransformerInferenceMappingSpec(), inputs.network)
    check_points({name: getattr(inputs, name) for name in AXES})
    for tensor_parallel, pipeline_parallel in product(
        inputs.tensor_parallel.tolist(), inputs.pipeline_parallel.tolist()
    ):
        yield _grid(inputs, tensor_parallel, pipeline_parallel)


def _grid(inputs: SweepInputs, tensor_parallel: int, pipeline_parallel: int) -> MappingGrid:
    mapping = TransformerInferenceMappingSpec(tensor_parallel=tensor_parallel, pipeline_parallel=pipeline_parallel)
    try:
        check_network(inputs.system, mapping, inputs.network)
        template = lower(inputs.model, mapping, inputs.datatype, inputs.attention).bound
    except InvalidInputError as fault:
        return MappingGrid(tensor_parallel, pipeline_parallel, reason=str(fault))
    contexts = np.where(_too_long(inputs), 1, inputs.context_tokens)
    statistics = phase_statistics(template, inputs.phase, inputs.batch_size[:, None], contexts[None, :])
    costs = price(inputs.provider, template_activity(template, statistics), inputs.system, inputs.network)
    if inputs.unasked is not None:
        inputs.unasked.see(costs)
    return MappingGrid(tensor_parallel, pipeline_parallel, None, costs, fullest_stage(template, statistics))


def _too_long(inputs: SweepInputs) -> Any:
    return inputs.context_tokens > inputs.model.sequence_length


def _reasons(inputs: SweepInputs, grid: MappingGrid, shape: tuple[int, int]) -> pl.Series:
    """Why each point is not feasible; null where it is."""
    import polars as pl

    texts = pl.Series([None, f"context_tokens {context_rule(inputs.model)}", grid.reason], dtype=pl.String)
    codes = np.full(shape, 2) if grid.reason else np.broadcast_to(_too_long(inputs)[None, :].astype(np.int64), shape)
    return texts.gather(codes.reshape(-1))


def _axis_columns(inputs: SweepInputs, grid: MappingGrid, shape: tuple[int, int]) -> dict[str, Any]:
    return {
        "tensor_parallel": np.full(shape, grid.tensor_parallel, dtype=np.int64).reshape(-1),
        "pipeline_parallel": np.full(shape, grid.pipeline_parallel, dtype=np.int64).reshape(-1),
        "batch_size": np.broadcast_to(inputs.batch_size[:, None], shape).reshape(-1),
        "context_tokens": np.broadcast_to(inputs.context_tokens[None, :], shape).reshape(-1),
    }


def _point_rows(inputs: SweepInputs, grid: MappingGrid, shape: tuple[int, int], usable: int) -> pl.DataFrame:
    import polars as pl

    def flat(values: Any, dtype: Any) -> Any:
        return np.broadcast_to(np.asarray(0 if values is None else values, dtype=dtype), shape).reshape(-1)

    band = None if grid.costs is None else grid.costs.band
    total = flat(grid.held and grid.held.total_bytes, np.int64)
    devices = grid.tensor_parallel * grid.pipeline_parallel
    frame = pl.DataFrame(
        {
            **_axis_columns(inputs, grid, shape),
            "reason": _reasons(inputs, grid, shape),
            "seconds": flat(grid.costs and grid.costs.seconds, np.float64),
            **{name: flat(np.nan if band is None else getattr(band, name), np.float64) for name in BAND_COLUMNS},
            "fits": total <= usable,
            "total_bytes": total,
            "kv_cache_bytes": flat(grid.held and grid.held.kv_cache_bytes, np.int64),
            "weights_bytes": flat(grid.held and grid.held.weights_bytes, np.int64),
            "devices": np.full(len(total), 0 if grid.reason else devices, dtype=np.int64),
        }
    )
    frame = frame.with_columns(pl.col(BAND_COLUMNS).fill_nan(None))
    figures = ("seconds", *BAND_COLUMNS, "fits", "total_bytes", "kv_cache_bytes", "weights_bytes", "devices")
    feasible = pl.col("reason").is_null()
    return frame.select(
        *AXES,
        feasible.alias("feasible"),
        "reason",
        *(pl.when(feasible).then(pl.col(name)).alias(name) for name in figures),
    )


def _component_rows(inputs: SweepInputs, grid: MappingGrid) -> pl.DataFrame:
    import polars as pl

    shape = (len(inputs.batch_size), len(inputs.context_tokens))
    columns = _axis_columns(inputs, grid, shape)
    reason = _reasons(inputs, grid, shape)
    points = pl.DataFrame({**columns, "feasible": reason.is_null(), "reason": reason}).with_row_index("point")
    points = points.with_columns(pl.lit(str(inputs.phase)).alias("phase"))
    if grid.costs is None:
        blanks = (pl.lit(None, dtype).alias(name) for name, dtype in component_schema().items())
        return points.drop("point").with_columns(*blanks)
    numbers = np.arange(len(points), dtype=np.uint32).reshape(shape)
    rows = component_frame(grid.costs, shape, {"point": numbers})
    keys = points.drop("point")[rows["point"]]
    table = pl.concat([keys, rows], how="horizontal")
    blank = points.filter(~pl.col("feasible"))
    if len(blank):
        table = pl.concat([table.filter(pl.col("feasible")), blank], how="diagonal").sort("point", maintain_order=True)
    return table.drop("point")
