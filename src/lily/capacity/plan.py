"""Puts demand, figures and prices through the formulas: sizes, costs, and what to watch."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from lily.capacity.demand import Demand
from lily.capacity.formulas import GROWTH, PARTS, RESOURCES, PartFormulas
from lily.capacity.measured import Measured
from lily.capacity.prices import Prices
from lily.capacity.sheet import Line, Sheet, number

HOURS = 730  # of a month: a year's twelfth


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    title: str
    summary: str
    lines: tuple[Line, ...]
    cost: float | None  # None: it costs nothing by itself

    def as_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "title": self.title,
            "summary": self.summary,
            "cost": self.cost,
            "lines": [line.as_dict() for line in self.lines],
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """`values` has every name of the arithmetic; `total` its last lines."""

    currency: str
    parts: tuple[Part, ...]
    total: tuple[Line, ...]
    values: Mapping[str, float]
    warnings: tuple[str, ...]
    placeholders: tuple[str, ...]

    @property
    def cost(self) -> float:
        return self.values["total.cost"]

    def priced(self) -> list[Part]:
        return [part for part in self.parts if part.cost is not None]


def make_plan(demand: Demand, measured: Measured, prices: Prices) -> Plan:
    sheet = Sheet(_given(demand, measured, prices))
    per_month = f"{prices.currency}/month"
    parts = tuple(_part(sheet, formulas, per_month) for formulas in PARTS)
    costs = " + ".join(f"{part.name}.cost" for part in parts if part.cost is not None)
    total = (
        sheet.let("total.cost", per_month, costs),
        sheet.let("total.per_million_assets", per_month, "total.cost / (demand.assets / 1e6)"),
        sheet.let("total.per_tenant", per_month, "total.cost / demand.tenants"),
        sheet.let("total.growth", f"{per_month} for each further month of history", GROWTH),
    )
    placeholders = tuple(measured.placeholders())
    return Plan(prices.currency, parts, total, sheet.values, tuple(_warnings(sheet.values)), placeholders)


def _given(demand: Demand, measured: Measured, prices: Prices) -> dict[str, float]:
    figures = measured.values()
    reads = demand.events * figures["shape.reads_per_event"] if demand.reads is None else demand.reads
    asked = {
        "assets": demand.assets,
        "events": demand.events,
        "tenants": demand.tenants,
        "reads": reads,
        "utilisation": demand.utilisation,
    }
    return {
        **figures,
        **{f"demand.{name}": value for name, value in asked.items()},
        **{f"price.{name}": value for name, value in asdict(prices.price).items()},
        "month.hours": HOURS,
        "month.seconds": HOURS * 3600,
        "day.seconds": 86_400,
        "gib": 1 << 30,
    }


def _part(sheet: Sheet, formulas: PartFormulas, per_month: str) -> Part:
    lines = [sheet.let(f"{formulas.name}.{name}", unit, formula) for name, unit, formula in formulas.lines]
    used = [cost for name, cost in RESOURCES.items() if any(line[0] == name for line in formulas.lines)]
    cost = None
    if used:
        lines.append(sheet.let(f"{formulas.name}.cost", per_month, " + ".join(used).format(part=formulas.name)))
        cost = lines[-1].value
    summary = re.sub(r"\{([\w.]+)\}", lambda match: number(sheet.values[match[1]]), formulas.tells)
    return Part(formulas.name, formulas.title, summary, tuple(lines), cost)


def _warnings(values: Mapping[str, float]) -> list[str]:
    found = []
    if values["postgres.largest"] > values["sizing.rows_per_database"]:
        found.append(
            f"One database would hold {number(values['postgres.largest'])} rows, more than the "
            f"{number(values['sizing.rows_per_database'])} it is planned for, and a tenant cannot be split. Measure "
            "that size first, or spread the tenants over more databases."
        )
    if values["relay.busiest"] > values["demand.utilisation"]:
        found.append(
            f"The relay of one database would need {number(values['relay.busiest'])} cores, but only one relay works "
            "at a time. Spread the tenants over more databases."
        )
    if values["postgres.history"] > values["postgres.assets"]:
        found.append(
            f"PostgreSQL holds more history ({number(values['postgres.history'])} GiB in "
            f"{number(values['shape.history_days'])} days) than assets ({number(values['postgres.assets'])} GiB). Lily "
            "deletes no change row yet: every further month adds what `total.growth` says."
        )
    return found
