"""The roofline of measured kernels: operations and bytes by the project's own formulas, over the machine's peaks.

    roofline = max(operations / matrix peak, bytes / bandwidth)

Formulas are those of `synthesizer.components`, with the widths of a shape in the place of a model's. Left out: the
peak of the vector engines, since no row-wise kernel comes near it, and collectives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..cost.families import Machine
from ..errors import one_of
from ..synthesizer.components import BLOCK, EMBEDDING, ComponentRule
from ..synthesizer.formula import evaluate
from ..workload import step_statistics

__all__ = ["WORK_FAMILIES", "Work", "work_of"]

Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Work:
    """Work of kernels on one machine: float64 arrays of shape (rows,)."""

    operations: Any
    """Of the matrix engines; 0 where a kernel has none."""
    bytes: Any
    """Read and written."""
    compute_seconds: Any
    """Of the operations at the peak."""
    memory_seconds: Any
    """Of the bytes at the bandwidth."""

    @property
    def roofline_seconds(self) -> Any:
        """The longer of both."""
        return np.maximum(self.compute_seconds, self.memory_seconds)

    @property
    def is_compute_bound(self) -> Any:
        """Whether the operations take longer than the bytes."""
        return self.compute_seconds > self.memory_seconds


@dataclass(frozen=True, slots=True)
class _Formula:
    """A component whose formulas are the family's, and how its names are said by a shape."""

    component: str
    widths: tuple[str, ...]
    """Dimensions that the formulas take as sizes."""
    sizes: Callable[[Sizes], dict[str, int]]
    """Widths to the value of every name in the formulas."""
    tokens: str = "rows"
    """The dimension that counts tokens; attention counts its own."""


def _attention_sizes(shape: Sizes) -> dict[str, int]:
    widths = {"query_width": shape["heads"] * shape["head_size"], "kv_width": shape["kv_heads"] * shape["head_size"]}
    return {**widths, "heads": shape["heads"], "score_operations": 0}


def _row(component: str, **changes: Any) -> _Formula:
    """A kernel that goes row by row; `changes` are names to values, or to what they are of the row's width."""

    def sizes(shape: Sizes) -> dict[str, int]:
        return {name: of(shape["width"]) if callable(of) else of for name, of in changes.items()}

    return _Formula(component, ("width",), sizes)


def _same(width: int) -> int:
    return width


def _norm(vectors: int) -> _Formula:
    return _row("input_norm", hidden=_same, norm_vectors=vectors, norm_operations=0)


_ATTENTION: Final = _Formula("attention_core", ("heads", "kv_heads", "head_size"), _attention_sizes, tokens="")

_FORMULAS: Final[Mapping[str, _Formula]] = {
    "gemm": _Formula(
        "output_projection",
        ("n", "k"),
        lambda shape: {"hidden": shape["n"], "query_width": shape["k"], "output_bias": 0},
        tokens="m",
    ),
    "rms_norm": _norm(1),
    "layer_norm": _norm(2),
    "gated_activation": _row("mlp_activation", inner=_same, up_width=lambda width: 2 * width),
    "activation": _row("mlp_activation", inner=_same, up_width=_same),
    "rope": _row("rope", rotary_width=_same),
    "add": _row("mlp_residual", hidden=_same),
    "embedding": _row("embedding", hidden=_same, position_table=0),
    "kv_save": _row("kv_save", kv_width=lambda width: width // 2),
    "attention_decode": _ATTENTION,
    "attention_prefill": _ATTENTION,
}

WORK_FAMILIES: Final = tuple(_FORMULAS)
"""Families that have a roofline."""

_RULES: Final[Mapping[str, ComponentRule]] = {rule.component: rule for rule in (*EMBEDDING, *BLOCK)}


def work_of(family: str, shape: Mapping[str, Any], machine: Machine) -> Work:
    """Work of `shape`, dimensions to int64 arrays of shape (rows,). Raises `UnknownNameError` for a family without."""
    formula = _FORMULAS[one_of("family", family, _FORMULAS)]
    rule = _RULES[formula.component]
    statistics = _statistics(formula, shape)
    widths = np.stack([np.asarray(shape[name], dtype=np.int64) for name in formula.widths])
    distinct, place = np.unique(widths, axis=1, return_inverse=True)
    operations, elements = (np.empty(widths.shape[1]) for _ in range(2))
    for index, values in enumerate(distinct.T.tolist()):
        rows = place.reshape(-1) == index
        sizes = formula.sizes(dict(zip(formula.widths, values, strict=True)))
        of_rows = {name: one[rows] for name, one in statistics.items()}
        operations[rows], elements[rows] = _evaluated(rule, sizes, of_rows)
    moved = machine.element_bytes * elements
    return Work(operations, moved, operations / machine.matrix_flops, moved / machine.bytes_per_second)


def _evaluated(rule: ComponentRule, sizes: Sizes, statistics: Mapping[str, Any]) -> tuple[Any, Any]:
    """Matrix operations, and elements that are moved. Causal attention skips what its mask hides."""
    weights = evaluate(rule.weights, sizes) if "weights" in rule.read else 0
    moved = evaluate(rule.read, {**sizes, "weights": weights}) + evaluate(rule.write, sizes)
    if rule.unit != "matrix":
        return 0.0, moved.at(statistics)
    operations = evaluate(rule.operations, sizes) - evaluate(rule.masked_operations, sizes)
    return operations.at(statistics), moved.at(statistics)


def _statistics(formula: _Formula, shape: Mapping[str, Any]) -> dict[str, Any]:
    """The step's statistics, as int64 arrays."""
    if formula.tokens:
        tokens = np.asarray(shape[formula.tokens], dtype=np.int64)
        return step_statistics(np.ones_like(tokens), np.ones_like(tokens), tokens)
    queries, context, batch = (
        np.asarray(shape[name], dtype=np.int64) for name in ("query_tokens", "context_tokens", "batch")
    )
    return step_statistics(queries, context, batch)
