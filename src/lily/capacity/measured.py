"""What was measured, and what is assumed: each figure with its unit and where it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lily.capacity.figures import BadFigures, check_keys, number_of, read_toml, table_of, write_packaged

FILE = "measured.toml"
MEASURED, ASSUMED, PLACEHOLDER = "measured", "assumed", "placeholder"
STATUSES = (MEASURED, ASSUMED, PLACEHOLDER)
SHARE = "share"  # the unit of what lies between 0 and 1, both included


@dataclass(frozen=True, slots=True)
class Figure:
    value: float
    unit: str
    status: str
    origin: str  # `from` in the file


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures by `section.key`, as the formulas name them."""

    figures: Mapping[str, Figure]

    def values(self) -> dict[str, float]:
        return {name: figure.value for name, figure in self.figures.items()}

    def placeholders(self) -> list[str]:
        return [name for name, figure in self.figures.items() if figure.status == PLACEHOLDER]


def read_measured(path: Path | None = None) -> Measured:
    """The named file, else the packaged one, which also says which keys and units there are."""
    place, reference = read_toml(None, FILE)
    known = _figures(place, reference)
    if path is None:
        return Measured(known)
    place, found = read_toml(path, FILE)
    check_keys(place, found, reference)
    for section, keys in reference.items():
        check_keys(f"{place}: {section}", table_of(f"{place}: {section}", found[section]), keys)
    given = _figures(place, found)
    for name, figure in given.items():
        if figure.unit != known[name].unit:
            raise BadFigures(f"{place}: {name} is in {figure.unit!r}. Convert it to {known[name].unit!r}.")
    return Measured(given)


def write_measured(path: Path) -> None:
    write_packaged(FILE, path)


def _figures(place: str, found: Mapping[str, Any]) -> dict[str, Figure]:
    return {
        f"{section}.{key}": _figure(f"{place}: {section}.{key}", table_of(f"{place}: {section}.{key}", entry))
        for section, entries in found.items()
        for key, entry in entries.items()
    }


def _figure(place: str, entry: Mapping[str, Any]) -> Figure:
    check_keys(place, entry, ("value", "unit", "status", "from"))
    if entry["status"] not in STATUSES:
        raise BadFigures(f"{place}: status is {entry['status']!r}. Write one of {', '.join(STATUSES)}.")
    if not isinstance(entry["from"], str) or not entry["from"].strip():
        raise BadFigures(f"{place}: from is empty. Say which measurement the figure comes from, and when.")
    value = number_of(f"{place}: value", entry["value"], positive=entry["unit"] != SHARE)
    if entry["unit"] == SHARE and value > 1:
        raise BadFigures(f"{place}: value is {value:g}, but a share is at most 1. Write 0.1 for 10 %.")
    return Figure(value, str(entry["unit"]), entry["status"], entry["from"])
