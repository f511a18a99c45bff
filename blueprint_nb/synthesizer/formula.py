"""Formulas as text, so that what is computed and what is shown are the same thing.

A formula is integer arithmetic over named sizes and a step's statistics: "2*tokens*hidden*qkv_width + weights".
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from ..ir.form import LinearForm
from ..workload import STATISTICS

Value = LinearForm | int

NOTHING: Final = "0"
_ZERO: Final = LinearForm()

_OPERATORS: Final[dict[type[ast.operator], Callable[[Value, Value], Value]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def evaluate(formula: str, symbols: Mapping[str, Value]) -> LinearForm:
    """The form of `formula`. Statistics stand for themselves; every other name must be in `symbols`."""
    if formula == NOTHING:
        return _ZERO
    value = _value(_parsed(formula), symbols)
    return value if isinstance(value, LinearForm) else LinearForm(constant=value)


@lru_cache(maxsize=512)
def names(formula: str) -> frozenset[str]:
    """Every name in `formula`."""
    return frozenset(node.id for node in ast.walk(_parsed(formula)) if isinstance(node, ast.Name))


@lru_cache(maxsize=512)
def _parsed(formula: str) -> ast.expr:
    return ast.parse(formula, mode="eval").body


def _value(node: ast.expr, symbols: Mapping[str, Value]) -> Value:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return symbols[name] if name in symbols else _STATISTICS[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, symbols), _value(right, symbols))
    raise TypeError(f"not integer arithmetic: {ast.dump(node)}")


_STATISTICS: Final = {name: LinearForm.of(name) for name in STATISTICS}
