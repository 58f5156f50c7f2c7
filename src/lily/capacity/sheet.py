"""A small spreadsheet. A formula is text that is both computed and printed, so the explanation cannot differ."""

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_OPERATORS: dict[type[ast.operator], tuple[str, int, Callable[[float, float], float]]] = {
    ast.Add: ("+", 1, lambda a, b: a + b),
    ast.Sub: ("−", 1, lambda a, b: a - b),  # noqa: RUF001 - a real minus sign, for readers
    ast.Mult: ("×", 2, lambda a, b: a * b),  # noqa: RUF001
    ast.Div: ("/", 2, lambda a, b: a / b),
}
_FUNCTIONS: dict[str, Callable[..., float]] = {"ceil": math.ceil, "min": min, "max": max}


@dataclass(frozen=True, slots=True)
class Line:
    """One computed line. `formula` shows the names, `arithmetic` the numbers."""

    name: str
    value: float
    unit: str
    formula: str
    arithmetic: str


class Sheet:
    """Named values, and lines that add to them. An unknown name in a formula raises KeyError: a bug in the formula."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self.values = dict(values)

    def compute(self, name: str, unit: str, formula: str) -> Line:
        tree = ast.parse(formula, mode="eval").body
        self.values[name] = value = float(self._evaluate(tree))
        arithmetic = _render(tree, lambda known: format_number(self.values[known]))
        return Line(name, value, unit, _render(tree, str), arithmetic)

    def _evaluate(self, node: ast.expr) -> float:
        match node:
            case ast.BinOp(left, op, right):
                return _OPERATORS[type(op)][2](self._evaluate(left), self._evaluate(right))
            case ast.Call(ast.Name(function), arguments):
                return _FUNCTIONS[function](*map(self._evaluate, arguments))
            case ast.Constant(int(value) | float(value)):
                return value
            case _:
                return self.values[ast.unparse(node)]


def format_number(value: float) -> str:
    """Four significant digits, or whole numbers from 1,000: a plan is no more exact than that."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _render(node: ast.expr, show_name: Callable[[str], str], outer_precedence: int = 0) -> str:
    match node:
        case ast.BinOp(left, op, right):
            sign, precedence, _ = _OPERATORS[type(op)]
            on_the_right = precedence + (sign in "−/")  # noqa: RUF001
            text = f"{_render(left, show_name, precedence)} {sign} {_render(right, show_name, on_the_right)}"
            return f"({text})" if precedence < outer_precedence else text
        case ast.Call(ast.Name(function), arguments):
            return f"{function}({', '.join(_render(argument, show_name) for argument in arguments)})"
        case ast.Constant(int(value) | float(value)):
            return format_number(value)
        case _:
            return show_name(ast.unparse(node))
