"""What a mapping writes for a field: a path, or a text with paths in braces."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from lily.intake.mapped.paths import Path, is_path, read_path
from lily.intake.mapped.scopes import Scope

MAX_TEMPLATE = 2_048
MAX_PLACES = 40  # of one text
SERIES = "series"  # the one field that another may name: {series}

_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


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
            return [found for found in scope.find(self.path) if found is not None]
        written = list[str]()
        for part in self.parts:
            if (text := part if isinstance(part, str) else _written(part, scope)) is None:
                return []
            written.append(text)
        text = "".join(written)
        return [text] if text.strip() else []

    def texts(self, scope: Scope) -> list[str]:
        """The values as texts, without those that are blank."""
        if self.is_of_item:
            return self._texts(scope)
        found: list[str] = scope.message.once(self, lambda: self._texts(scope))
        return found

    @property
    def is_of_item(self) -> bool:
        """Whether the items of a message can have different values."""
        if self.path is not None:
            return self.path.is_of_item
        places = [part for part in self.parts if isinstance(part, Place)]
        return any(place.path is None or place.path.is_of_item for place in places)

    def _texts(self, scope: Scope) -> list[str]:
        found = (scope.message.shown(value) for value in self.values(scope))
        return [one for one in found if one is not None and one.strip()]

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
    if sum(isinstance(part, Place) for part in parts) > MAX_PLACES:
        raise ValueError(f"a text must not have more than {MAX_PLACES} paths")
    return Template(tuple(part for part in parts if part != ""))


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
    found = scope.find(place.path)
    written = scope.message.shown(found[0]) if found else None
    return "" if written is None and place.is_optional else written
