"""What things cost: a file that its user is meant to edit."""

from dataclasses import dataclass, fields
from pathlib import Path

from lily.capacity.figures import BadFigures, check_keys, number_of, read_toml, table_of, write_packaged

FILE = "prices.toml"


@dataclass(frozen=True, slots=True)
class Price:
    vcpu_hour: float
    memory_gib_hour: float
    block_gib_month: float
    object_gib_month: float
    object_put_per_1000: float
    object_get_per_1000: float
    zone_network_gib: float


@dataclass(frozen=True, slots=True)
class Prices:
    label: str
    currency: str
    price: Price


def read_prices(path: Path | None = None) -> Prices:
    """The named file, else the packaged examples. Raises BadFigures, which names the key."""
    place, found = read_toml(path, FILE)
    check_keys(place, found, ("label", "currency", "price"))
    for key in ("label", "currency"):
        if not isinstance(found[key], str) or not found[key].strip():
            raise BadFigures(f"{place}: {key} is {found[key]!r}. Write a text in quotes.")
    price = table_of(f"{place}: price", found["price"])
    check_keys(f"{place}: price", price, (field.name for field in fields(Price)))
    numbers = {key: number_of(f"{place}: price.{key}", value, positive=False) for key, value in price.items()}
    return Prices(found["label"], found["currency"], Price(**numbers))


def write_prices(path: Path) -> None:
    write_packaged(FILE, path)
