"""Unit prices, from a file that users are expected to replace with their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lily.capacity.figures import BadFigures, check_keys, check_number, check_table, read_toml, write_packaged

FILE = "prices.toml"


@dataclass(frozen=True, slots=True)
class Prices:
    """Unit prices by name, as the formulas use them, in one currency."""

    label: str
    currency: str
    price: Mapping[str, float]


def read_prices(path: Path | None = None) -> Prices:
    """Reads the file at `path`, or the packaged example, which also defines the valid keys."""
    _, reference = read_toml(None, FILE)
    location, found = read_toml(path, FILE)
    check_keys(location, found, reference)
    for key in ("label", "currency"):
        if not isinstance(found[key], str) or not found[key].strip():
            raise BadFigures(f"{location}: {key} is {found[key]!r}. Write text in quotes.")
    prices = check_table(f"{location}: price", found["price"])
    check_keys(f"{location}: price", prices, reference["price"])
    numbers = {key: check_number(f"{location}: price.{key}", value, positive=False) for key, value in prices.items()}
    return Prices(found["label"], found["currency"], numbers)


def write_prices(path: Path) -> None:
    write_packaged(FILE, path)
