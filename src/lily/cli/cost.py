"""`lily cost`: the capacity plan as arithmetic. It starts nothing and asks nobody."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lily.capacity import Demand, Plan, Prices, make_plan, read_measured, read_prices
from lily.capacity.brief import DIFFERENCE, ESTIMATES, HIGHEST, LOWEST
from lily.capacity.demand import read_number
from lily.capacity.measured import write_measured
from lily.capacity.prices import write_prices
from lily.capacity.sheet import number
from lily.cli.answer import print_json, say
from lily.cli.options import AnswerFormat, Format

OptionalFile = Path | None


def cost(
    *,
    assets: Annotated[str, typer.Option(help="Assets of all tenants: 1e9 or 1_000_000_000.")] = "1e9",
    events_per_second: Annotated[str, typer.Option(help="Events a second, all day.")] = "1e4",
    tenants: Annotated[str, typer.Option(help="Tenants that share them.")] = "10",
    reads_per_second: Annotated[str, typer.Option(help="Reads a second. Default: the measured file's per event.")] = "",
    utilisation: Annotated[
        str, typer.Option(help="How busy processors are planned to be; the rest is head-room.")
    ] = "0.6",
    prices: Annotated[OptionalFile, typer.Option(help="Your prices, a TOML file.", show_default="examples")] = None,
    measured: Annotated[OptionalFile, typer.Option(help="Your figures, a TOML file.", show_default="ours")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the arithmetic, line by line.")] = False,
    write_prices_to: Annotated[
        OptionalFile, typer.Option("--write-prices", help="Write the example prices to a file to edit, and stop.")
    ] = None,
    write_measured_to: Annotated[
        OptionalFile, typer.Option("--write-measured", help="Write our figures to a file to edit, and stop.")
    ] = None,
    answer: AnswerFormat = Format.text,
) -> None:
    """What an estate needs and costs a month: Kafka, Spark, PostgreSQL, lake and API, with the arithmetic behind it."""
    if write_prices_to or write_measured_to:
        _write(write_prices_to, write_measured_to, answer)
        return
    demand = Demand(
        assets=read_number("--assets", assets, "1e9 or 1_000_000_000"),
        events=read_number("--events-per-second", events_per_second, "1e4 or 10_000"),
        tenants=read_number("--tenants", tenants, "10"),
        reads=read_number("--reads-per-second", reads_per_second, "5e4 or 50_000") if reads_per_second else None,
        utilisation=read_number("--utilisation", utilisation, "0.6"),
    )
    price_list = read_prices(prices)
    plan = make_plan(demand, read_measured(measured), price_list)
    if answer is Format.json:
        print_json(_as_dict(plan, price_list))
        return
    if explain:
        _print_arithmetic(plan)
    _print_plan(plan, price_list)


def _write(prices: Path | None, measured: Path | None, answer: Format) -> None:
    if prices:
        write_prices(prices)
    if measured:
        write_measured(measured)
    written = {"prices": prices, "measured": measured}
    if answer is Format.json:
        print_json({"written": [str(path) for path in written.values() if path]})
        return
    for option, path in written.items():
        if path:
            say(f"[green]✓[/] Edit {escape(str(path))}, then: lily cost --{option} {escape(str(path))}")


def _as_dict(plan: Plan, prices: Prices) -> dict[str, object]:
    return {
        "demand": {name[7:]: value for name, value in plan.values.items() if name.startswith("demand.")},
        "parts": [part.as_dict() for part in plan.parts],
        "cost": {
            "currency": plan.currency,
            "prices": prices.label,
            "lines": {part.name: part.cost for part in plan.priced()},
            **{line.name.removeprefix("total.").replace("cost", "total"): line.value for line in plan.total},
        },
        "warnings": list(plan.warnings),
        "placeholders": list(plan.placeholders),
        "brief": {
            "lowest": LOWEST,
            "highest": HIGHEST,
            "estimates": [{"what": e.what, "monthly": e.monthly, "assumes": e.assumes} for e in ESTIMATES],
            "difference": DIFFERENCE,
        },
    }


def _print_arithmetic(plan: Plan) -> None:
    titled = [(part.title, part.lines) for part in plan.parts] + [("Total", plan.total)]
    for title, lines in titled:
        say(f"[bold]{title}[/]")
        for line in lines:
            say(f"  {line.name} = {escape(line.formula)}")
            say(f"      [dim]= {escape(line.arithmetic)}[/] = [bold]{number(line.value)}[/] {escape(line.unit)}")
        say("")


def _print_plan(plan: Plan, prices: Prices) -> None:
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("part", no_wrap=True)
    table.add_column("plan")
    table.add_column(f"{plan.currency} a month", justify="right", no_wrap=True)
    for part in plan.parts:
        table.add_row(part.title, escape(part.summary), "" if part.cost is None else f"{part.cost:,.0f}")
    table.add_row("[bold]Total[/]", "", f"[bold]{plan.cost:,.0f}[/]")
    Console(highlight=False).print(table)
    values = plan.values
    say(
        f"\n{values['total.per_million_assets']:,.2f} {plan.currency} a month for each million assets, "
        f"{values['total.per_tenant']:,.2f} for each tenant; {values['total.growth']:,.0f} more for each further month "
        "of history kept."
    )
    say(f"Prices: {escape(prices.label)}.")
    for warning in plan.warnings:
        say(f"[yellow]![/] {escape(warning)}")
    if plan.placeholders:
        say(f"[yellow]![/] Not measured yet, placeholders stand in: {', '.join(plan.placeholders)}.")
    say(f"The brief expected {LOWEST:,.0f} to {HIGHEST:,.0f} a month. {DIFFERENCE}")
