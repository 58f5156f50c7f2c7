"""The formulas of the plan, read from `formulas.toml`, which documents their syntax."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from lily.capacity.figures import read_toml


@dataclass(frozen=True, slots=True)
class PartFormulas:
    """How one part is sized: `lines` of (name, unit, formula), and a `summary` with the names to fill in."""

    name: str
    title: str
    summary: str
    lines: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Formulas:
    """All formulas. `resources` maps the name of a line that costs money to the formula of its monthly cost."""

    parts: tuple[PartFormulas, ...]
    resources: Mapping[str, str]
    growth: str


@cache
def read_formulas() -> Formulas:
    _, found = read_toml(None, "formulas.toml")
    parts = tuple(_part(name, part) for name, part in found["parts"].items())
    return Formulas(parts, found["resources"], found["totals"]["growth"])


def _part(name: str, part: Mapping[str, Any]) -> PartFormulas:
    lines = tuple((line, unit, formula) for line, (unit, formula) in part["lines"].items())
    return PartFormulas(name, part["title"], part["summary"], lines)
