"""Finds the entry points of every installed distribution, also beside one whose metadata is damaged."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import NamedTuple

OWN_PACKAGE = "lily"
PREFIX = "lily."  # of the groups
UNKNOWN = "unknown"
_STATED = re.compile(r"^(Name|Version):(.*)$", re.MULTILINE)


class Origin(NamedTuple):
    """The distribution that brought a plug-in."""

    distribution: str
    version: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}".strip()


@dataclass(frozen=True, slots=True)
class Declared:
    """An entry point of one of Lily's groups. Nothing of it has been imported."""

    entry_point: EntryPoint
    origin: Origin

    @property
    def builtin(self) -> bool:
        return self.entry_point.value.partition(":")[0].partition(".")[0].strip() == OWN_PACKAGE


@dataclass(frozen=True, slots=True)
class Damaged:
    """A distribution whose entry points cannot be read, and why."""

    origin: Origin
    problem: str


def discover(found: Iterable[Distribution] | None = None) -> Iterator[Declared | Damaged]:
    """Reads distribution by distribution: one damaged file would end `importlib.metadata.entry_points()` for all."""
    seen: set[str] = set()
    for distribution in distributions() if found is None else found:
        origin = _origin(distribution)
        key = re.sub(r"[-_.]+", "-", origin.distribution).lower()
        if (
            key not in seen or origin.distribution == UNKNOWN
        ):  # of two the one that comes first on the path is the one that Python imports
            seen.add(key)
            yield from _declared(distribution, origin)


def _declared(distribution: Distribution, origin: Origin) -> list[Declared] | list[Damaged]:
    text = _read(distribution, "entry_points.txt")
    if PREFIX not in text:
        return []
    try:
        return [Declared(entry, origin) for entry in distribution.entry_points if entry.group.startswith(PREFIX)]
    except Exception as error:  # noqa: BLE001 - what a damaged file raises is up to the library's parser
        return [Damaged(origin, f"its entry_points.txt cannot be read ({error!r}); install it again")]


def _origin(distribution: Distribution) -> Origin:
    """The library would parse all of the metadata, the long description included: ten times the work."""
    text = _read(distribution, "METADATA") or _read(distribution, "PKG-INFO")
    stated = dict(_STATED.findall(text.partition("\n\n")[0]))
    return Origin(stated.get("Name", "").strip() or UNKNOWN, stated.get("Version", "").strip())


def _read(distribution: Distribution, file: str) -> str:
    try:
        return distribution.read_text(file) or ""
    except (OSError, ValueError):  # not readable, or not UTF-8
        return ""
