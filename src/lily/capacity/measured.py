"""The measured and assumed figures of a plan, each with its unit and its source."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lily.capacity.figures import BadFigures, check_keys, check_number, check_table, read_toml, write_packaged

FILE = "measured.toml"
MEASURED, ASSUMED, PLACEHOLDER = "measured", "assumed", "placeholder"
STATUSES = (MEASURED, ASSUMED, PLACEHOLDER)
SHARE = "share"  # the unit of a ratio from 0 to 1, both included


@dataclass(frozen=True, slots=True)
class Figure:
    """One number. `source` is `from` in the file."""

    value: float
    unit: str
    status: str
    source: str


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures by `section.key`, as the formulas name them."""

    figures: Mapping[str, Figure]

    def values(self) -> dict[str, float]:
        return {name: figure.value for name, figure in self.figures.items()}

    def placeholders(self) -> list[str]:
        return [name for name, figure in self.figures.items() if figure.status == PLACEHOLDER]


def read_measured(path: Path | None = None) -> Measured:
    """Reads the file at `path`, or the packaged one, which also defines the valid keys and units."""
    location, reference = read_toml(None, FILE)
    known = _figures(location, reference)
    if path is None:
        return Measured(known)
    location, found = read_toml(path, FILE)
    check_keys(location, found, reference)
    for section, keys in reference.items():
        check_keys(f"{location}: {section}", check_table(f"{location}: {section}", found[section]), keys)
    given = _figures(location, found)
    for name, figure in given.items():
        if figure.unit != known[name].unit:
            raise BadFigures(f"{location}: {name} is in {figure.unit!r}. Convert it to {known[name].unit!r}.")
    return Measured(given)


def write_measured(path: Path) -> None:
    write_packaged(FILE, path)


def _figures(location: str, found: Mapping[str, Any]) -> dict[str, Figure]:
    return {
        f"{section}.{key}": _figure(f"{location}: {section}.{key}", entry)
        for section, entries in found.items()
        for key, entry in entries.items()
    }


def _figure(location: str, value: object) -> Figure:
    entry = check_table(location, value)
    check_keys(location, entry, ("value", "unit", "status", "from"))
    if entry["status"] not in STATUSES:
        raise BadFigures(f"{location}: status is {entry['status']!r}. Use one of {', '.join(STATUSES)}.")
    if not isinstance(entry["from"], str) or not entry["from"].strip():
        raise BadFigures(f"{location}: from is empty. Name the measurement or the assumption behind the figure.")
    number = check_number(f"{location}: value", entry["value"], positive=entry["unit"] != SHARE)
    if entry["unit"] == SHARE and number > 1:
        raise BadFigures(f"{location}: value is {number:g}, but a share is at most 1. Write 0.1 for 10 %.")
    return Figure(number, str(entry["unit"]), entry["status"], entry["from"])
