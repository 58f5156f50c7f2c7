"""What a mapping writes for a field: a path, or a text with paths in braces."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from lily.intake.mapped.paths import Path, is_path, read_path

MAX_TEMPLATE = 2_048
MAX_VALUE = 4_096  # characters of one value within a text
SERIES = "series"  # the one field that another may name: {series}

_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Scope(NamedTuple):
    """What paths are applied to, and the series of the item if it has one."""

    message: Any
    item: Any
    series: str = ""


class Place(NamedTuple):
    """A path in braces. An optional one is empty if it leads nowhere."""

    path: Path | None  # None: the series
    is_optional: bool


@dataclass(frozen=True, slots=True)
class Template:
    """Either one path, whose values are taken as they are, or a text with values in it."""

    parts: tuple[str | Place, ...]
    path: Path | None = None

    def values(self, scope: Scope) -> list[Any]:
        """Nothing if the path, or a path in the text, leads nowhere or to null."""
        if self.path is not None:
            return [found for found in self.path.find(scope.message, scope.item) if found is not None]
        written = [part if isinstance(part, str) else _written(part, scope) for part in self.parts]
        text = "".join(one for one in written if one is not None)
        return [text] if None not in written and text.strip() else []

    @property
    def names_series(self) -> bool:
        return any(isinstance(part, Place) and part.path is None for part in self.parts)


def read_template(text: str) -> Template:
    """Raises ValueError that names what is wrong."""
    if is_path(text):
        return Template((), read_path(text))
    if not text.strip() or len(text) > MAX_TEMPLATE:
        raise ValueError(f"a text must have 1 to {MAX_TEMPLATE} characters")
    parts: list[str | Place] = []
    end = 0
    for match in _PLACE.finditer(text):
        parts.append(text[end : match.start()])
        parts.append(_part(match, text))
        end = match.end()
    parts.append(text[end:])
    return Template(tuple(part for part in parts if part != ""))


def shown(value: Any) -> str | None:
    """A value as text: lists and objects as JSON with sorted keys. None for null."""
    if value is None:
        return None
    if isinstance(value, str):
        return value[:MAX_VALUE]
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()[:MAX_VALUE]


def _part(match: re.Match[str], text: str) -> str | Place:
    if match[0] in {"{{", "}}"}:
        return match[0][0]
    if match[1] is None:
        raise ValueError(f"{text[:64]!r} has a brace without its other half; write {{{{ or }}}} for a brace itself")
    named = match[1].strip()
    is_optional = named.endswith("?")
    named = named.removesuffix("?").strip()
    return Place(None if named == SERIES else read_path(named), is_optional)


def _written(place: Place, scope: Scope) -> str | None:
    if place.path is None:
        return scope.series or ("" if place.is_optional else None)
    found = place.path.find(scope.message, scope.item)
    written = shown(found[0]) if found else None
    return "" if written is None and place.is_optional else written
