"""A component's formulas with their numbers: what a plan computed, as a person can check it.

"2·tokens·hidden·qkv_width = 2·1·4,096·3,072". Terms that are multiplied by zero are left out of the numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from ..ir import PlanTask, TaskWork
from ..units import format_decimal
from ..workload import element_bytes

_SIGNS: Final[dict[type[ast.operator], str]] = {ast.Add: " + ", ast.Sub: " − ", ast.Mult: "·"}


def formula_lines(task: PlanTask, work: TaskWork, datatype: str, statistics: Mapping[str, int]) -> dict[str, str]:
    """Quantity (operations, read, write, message) to its formula, the same with numbers, and the result.

    `work` is the bound task's, so what a kernel skips is taken off: its formula follows a minus sign.
    """
    size = element_bytes(datatype)
    results = {
        "operations": (work.operations, "FLOP", ""),
        "read": (work.read_bytes, "B", f"·{size} B"),
        "write": (work.write_bytes, "B", f"·{size} B"),
        "message": (work.message_bytes, "B", f"·{size} B"),
    }
    return {
        name: f"{_both(_written(task, name), task, statistics, times)} = {format_decimal(value, unit)}"
        for name, (value, unit, times) in results.items()
        if value
    }


def _written(task: PlanTask, name: str) -> ast.expr:
    """The formula with the weights written out, and what kernels skip taken off."""
    formulas = task.origin.formulas
    written = formulas[name]
    if name == "operations" and "masked_operations" in formulas and task.masked_operations.is_zero:
        written = f"{written} - {formulas['masked_operations']}"
    tree = ast.parse(written, mode="eval").body
    weights = ast.parse(formulas.get("weights", "0"), mode="eval").body
    return ast.fix_missing_locations(_Named({"weights": weights}).visit(tree))  # type: ignore[no-any-return]


def _both(formula: ast.expr, task: PlanTask, statistics: Mapping[str, int], times: str) -> str:
    values = {**statistics, **task.origin.symbols}
    numbers = _Named({name: ast.Constant(value) for name, value in values.items()}).visit(formula)
    left, right = (_grouped(_text(node), times) for node in (formula, _without_zeros(numbers)))
    return f"{left} = {right}"


def _grouped(text: str, times: str) -> str:
    if not times:
        return text
    return f"({text}){times}" if " " in text else f"{text}{times}"


class _Named(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, meanings: Mapping[str, ast.expr]) -> None:
        self.meanings = meanings

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.meanings.get(node.id, node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        # A new node: formulas are shown twice, with names and with numbers.
        return ast.BinOp(self.visit(node.left), node.op, self.visit(node.right))


def _without_zeros(node: ast.expr) -> ast.expr:
    if not isinstance(node, ast.BinOp):
        return node
    left, right = _without_zeros(node.left), _without_zeros(node.right)
    zeros = (_is_zero(left), _is_zero(right))
    if isinstance(node.op, ast.Mult):
        return ast.Constant(0) if any(zeros) else ast.BinOp(left, node.op, right)
    if zeros[1]:
        return left
    return right if zeros[0] and isinstance(node.op, ast.Add) else ast.BinOp(left, node.op, right)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=int(number)):
            return f"{number:,}"
        case ast.Name(id=name):
            return name
        case ast.BinOp(left=left, op=op, right=right):
            return f"{_operand(left, op)}{_SIGNS[type(op)]}{_operand(right, op, is_right=True)}"
    raise TypeError(f"not integer arithmetic: {ast.dump(node)}")


def _operand(node: ast.expr, outer: ast.operator, *, is_right: bool = False) -> str:
    is_sum = isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Mult)
    binds_less = isinstance(outer, ast.Mult) or (is_right and isinstance(outer, ast.Sub))
    return f"({_text(node)})" if is_sum and binds_less else _text(node)
