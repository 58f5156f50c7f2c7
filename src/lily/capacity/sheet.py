"""A small spreadsheet: a formula is text that is both computed and shown, so what is explained is what was done."""

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_SIGNS: dict[type[ast.operator], tuple[str, int, Callable[[float, float], float]]] = {
    ast.Add: ("+", 1, lambda a, b: a + b),
    ast.Sub: ("−", 1, lambda a, b: a - b),  # noqa: RUF001 - a minus for people
    ast.Mult: ("×", 2, lambda a, b: a * b),  # noqa: RUF001
    ast.Div: ("/", 2, lambda a, b: a / b),
}
_FUNCTIONS: dict[str, Callable[..., float]] = {"ceil": math.ceil, "min": min, "max": max}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the arithmetic. `formula` has the names in it, `arithmetic` the numbers."""

    name: str
    unit: str
    value: float
    formula: str
    arithmetic: str

    def as_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "formula": self.formula,
            "arithmetic": self.arithmetic,
        }


class Sheet:
    """Names, and lines that add to them. A formula that names what is not there raises KeyError: it is our mistake."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self.values = dict(values)

    def let(self, name: str, unit: str, formula: str) -> Line:
        tree = ast.parse(formula, mode="eval").body
        self.values[name] = value = float(self._value(tree))
        numbers = _written(tree, lambda known: number(self.values[known]))
        return Line(name, unit, value, _written(tree, str), numbers)

    def _value(self, node: ast.expr) -> float:
        match node:
            case ast.BinOp(left, op, right):
                return _SIGNS[type(op)][2](self._value(left), self._value(right))
            case ast.Call(ast.Name(function), arguments):
                return _FUNCTIONS[function](*map(self._value, arguments))
            case ast.Constant(int(value) | float(value)):
                return value
            case _:
                return self.values[ast.unparse(node)]


def number(value: float) -> str:
    """As many digits as a plan deserves."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _written(node: ast.expr, name: Callable[[str], str], above: int = 0) -> str:
    match node:
        case ast.BinOp(left, op, right):
            sign, rank, _ = _SIGNS[type(op)]
            stricter = rank + (sign in "−/")  # noqa: RUF001
            text = f"{_written(left, name, rank)} {sign} {_written(right, name, stricter)}"
            return f"({text})" if rank < above else text
        case ast.Call(ast.Name(function), arguments):
            return f"{function}({', '.join(_written(argument, name) for argument in arguments)})"
        case ast.Constant(int(value) | float(value)):
            return number(value)
        case _:
            return name(ast.unparse(node))
