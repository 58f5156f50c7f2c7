"""Computes a plan from demand, figures and prices: sizes, costs and warnings."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from lily.capacity.demand import Demand
from lily.capacity.formulas import Formulas, PartFormulas, read_formulas
from lily.capacity.measured import Measured
from lily.capacity.prices import Prices
from lily.capacity.sheet import Line, Sheet, format_number

HOURS_PER_MONTH = 730  # a twelfth of a year


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the deployment, such as Kafka. `cost` is None if it only prepares numbers for other parts."""

    name: str
    title: str
    summary: str
    cost: float | None
    lines: tuple[Line, ...]

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Plan:
    """`values` holds every name of the computation, `total` its last lines."""

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
    formulas = read_formulas()
    sheet = Sheet(_inputs(demand, measured, prices))
    per_month = f"{prices.currency}/month"
    parts = tuple(_part(sheet, part, formulas, per_month) for part in formulas.parts)
    costs = " + ".join(f"{part.name}.cost" for part in parts if part.cost is not None)
    total = (
        sheet.compute("total.cost", per_month, costs),
        sheet.compute("total.per_million_assets", per_month, "total.cost / (demand.assets / 1e6)"),
        sheet.compute("total.per_tenant", per_month, "total.cost / demand.tenants"),
        sheet.compute("total.growth", f"{per_month} for each further month of history", formulas.growth),
    )
    placeholders = tuple(measured.placeholders())
    return Plan(prices.currency, parts, total, sheet.values, tuple(_warnings(sheet.values)), placeholders)


def _inputs(demand: Demand, measured: Measured, prices: Prices) -> dict[str, float]:
    """All names that the first formula may use."""
    figures = measured.values()
    reads = demand.events * figures["shape.reads_per_event"] if demand.reads is None else demand.reads
    return {
        **figures,
        **{f"demand.{name}": value for name, value in (asdict(demand) | {"reads": reads}).items()},
        **{f"price.{name}": value for name, value in prices.price.items()},
        "month.hours": HOURS_PER_MONTH,
        "month.seconds": HOURS_PER_MONTH * 3600,
        "day.seconds": 86_400,
        "gib": 1 << 30,
    }


def _part(sheet: Sheet, part: PartFormulas, formulas: Formulas, per_month: str) -> Part:
    lines = [sheet.compute(f"{part.name}.{name}", unit, formula) for name, unit, formula in part.lines]
    names = {name for name, _, _ in part.lines}
    costs = [cost.format(part=part.name) for resource, cost in formulas.resources.items() if resource in names]
    if costs:
        lines.append(sheet.compute(f"{part.name}.cost", per_month, " + ".join(costs)))
    summary = re.sub(r"\{([\w.]+)\}", lambda match: format_number(sheet.values[match[1]]), part.summary)
    return Part(part.name, part.title, summary, lines[-1].value if costs else None, tuple(lines))


def _warnings(values: Mapping[str, float]) -> list[str]:
    shown = {name: format_number(value) for name, value in values.items()}
    found = []
    if values["postgres.largest_database"] > values["sizing.rows_per_database"]:
        found.append(
            f"One database would hold {shown['postgres.largest_database']} rows, more than the "
            f"{shown['sizing.rows_per_database']} it is planned for, and a tenant cannot be split. Measure that size "
            "first, or spread the tenants over more databases."
        )
    if values["relay.busiest_cores"] > values["demand.utilisation"]:
        found.append(
            f"The relay of one database would need {shown['relay.busiest_cores']} cores, but only one relay works at a "
            "time. Spread the tenants over more databases."
        )
    if values["postgres.history"] > values["postgres.assets"]:
        found.append(
            f"PostgreSQL holds more history ({shown['postgres.history']} GiB for {shown['shape.history_days']} days) "
            f"than assets ({shown['postgres.assets']} GiB). Lily does not delete history yet: every further month adds "
            "the cost of `total.growth`."
        )
    return found
