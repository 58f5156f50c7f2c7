"""`lily cost`: prints the capacity plan. Pure arithmetic: it starts nothing and connects to nothing."""

from pathlib import Path
from typing import Annotated

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lily.capacity import Demand, Plan, Prices, make_plan, read_measured, read_prices
from lily.capacity.demand import parse_number
from lily.capacity.measured import write_measured
from lily.capacity.prices import write_prices
from lily.capacity.reference_estimates import DIFFERENCE, ESTIMATES, HIGHEST, LOWEST
from lily.capacity.sheet import format_number
from lily.cli.options import OutputFormat, flag, option
from lily.cli.output import Format, print_json, print_text

DEFAULT_WORKLOAD = Demand(assets=1e9, events=1e4, tenants=10)  # the defaults of the options below

File = Path | None


def cost(
    *,
    assets: Annotated[str, option("--assets", "NUMBER", "Assets of all tenants: 1e9 or 1_000_000_000.")] = "1e9",
    events_per_second: Annotated[
        str, option("--events-per-second", "NUMBER", "Events of all tenants, sustained.")
    ] = "1e4",
    tenants: Annotated[str, option("--tenants", "NUMBER", "Number of tenants that share the assets.")] = "10",
    reads_per_second: Annotated[
        str, option("--reads-per-second", "NUMBER", "Reads of all tenants.", "5 per event")
    ] = "",
    utilisation: Annotated[
        str, option("--utilisation", "SHARE", "Planned load of the processors; the rest is reserve for peaks.")
    ] = "0.6",
    prices: Annotated[File, option("--prices", "FILE", "TOML file with your prices.", "example prices")] = None,
    measured: Annotated[File, option("--measured", "FILE", "TOML file with your measurements.", "Lily's own")] = None,
    explain: Annotated[bool, flag("--explain", "Print every formula with its numbers.")] = False,
    write_prices_to: Annotated[
        File, option("--write-prices", "FILE", "Write the example prices to a file to edit, and exit.")
    ] = None,
    write_measured_to: Annotated[
        File, option("--write-measured", "FILE", "Write the measurements to a file to edit, and exit.")
    ] = None,
    output: OutputFormat = Format.text,
) -> None:
    """Compute the resources and the monthly cost of a workload: Kafka, Spark, PostgreSQL, lake and API.

    Without options it plans the default workload: one billion assets of ten tenants and 10,000 events per second.
    """
    if write_prices_to or write_measured_to:
        _write(write_prices_to, write_measured_to, output)
        return
    demand = Demand(
        assets=parse_number("--assets", assets, "1e9 or 1_000_000_000"),
        events=parse_number("--events-per-second", events_per_second, "1e4 or 10_000"),
        tenants=parse_number("--tenants", tenants, "10"),
        reads=parse_number("--reads-per-second", reads_per_second, "5e4 or 50_000") if reads_per_second else None,
        utilisation=parse_number("--utilisation", utilisation, "0.6"),
    )
    price_list = read_prices(prices)
    plan = make_plan(demand, read_measured(measured), price_list)
    if output is Format.json:
        print_json(_as_dict(plan, price_list))
        return
    if explain:
        _print_arithmetic(plan)
    _print_plan(plan, price_list)
    if demand == DEFAULT_WORKLOAD:
        print_text(f"For comparison: estimates of other designs for this workload are {LOWEST:,.0f} to {HIGHEST:,.0f} "
                   f"per month. {DIFFERENCE}")  # fmt: skip


def _write(prices: Path | None, measured: Path | None, output: Format) -> None:
    if prices:
        write_prices(prices)
    if measured:
        write_measured(measured)
    written = {"prices": prices, "measured": measured}
    if output is Format.json:
        print_json({"written": [str(path) for path in written.values() if path]})
        return
    for name, path in written.items():
        if path:
            print_text(f"[green]✓[/] Edit {escape(str(path))}, then run `lily cost --{name} {escape(str(path))}`.")


def _as_dict(plan: Plan, prices: Prices) -> dict[str, object]:
    return {
        "demand": {
            name.removeprefix("demand."): value for name, value in plan.values.items() if name.startswith("demand.")
        },
        "parts": [part.as_dict() for part in plan.parts],
        "cost": {
            "currency": plan.currency,
            "prices": prices.label,
            "lines": {part.name: part.cost for part in plan.priced()},
            **{line.name.removeprefix("total.").replace("cost", "total"): line.value for line in plan.total},
        },
        "warnings": list(plan.warnings),
        "placeholders": list(plan.placeholders),
        "default_workload_estimates": {
            "lowest": LOWEST,
            "highest": HIGHEST,
            "estimates": [{"what": e.design, "monthly": e.monthly, "assumes": e.assumes} for e in ESTIMATES],
            "difference": DIFFERENCE,
        },
    }


def _print_arithmetic(plan: Plan) -> None:
    titled = [(part.title, part.lines) for part in plan.parts] + [("Total", plan.total)]
    for title, lines in titled:
        print_text(f"[bold]{title}[/]")
        for line in lines:
            print_text(f"  {line.name} = {escape(line.formula)}")
            value = f"[bold]{format_number(line.value)}[/] {escape(line.unit)}"
            print_text(f"      [dim]= {escape(line.arithmetic)}[/] = {value}")
        print_text("")


def _print_plan(plan: Plan, prices: Prices) -> None:
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("part", no_wrap=True)
    table.add_column("plan")
    table.add_column(f"{plan.currency} per month", justify="right", no_wrap=True)
    for part in plan.parts:
        table.add_row(part.title, escape(part.summary), "" if part.cost is None else f"{part.cost:,.0f}")
    table.add_row("[bold]Total[/]", "", f"[bold]{plan.cost:,.0f}[/]")
    Console(highlight=False).print(table)
    values = plan.values
    print_text(
        f"\n{values['total.per_million_assets']:,.2f} {plan.currency} per month and million assets, "
        f"{values['total.per_tenant']:,.2f} per tenant; each further month of history adds "
        f"{values['total.growth']:,.0f}."
    )
    print_text(f"Prices: {escape(prices.label)}.")
    for warning in plan.warnings:
        print_text(f"[yellow]![/] {escape(warning)}")
    if plan.placeholders:
        print_text(f"[yellow]![/] Not measured yet, so placeholders are used: {', '.join(plan.placeholders)}.")
