"""`lily quality`: policies that watch how assets are used, and the usage of an asset."""

from typing import Annotated, Any

import typer
from rich.markup import escape

from lily.cli.options import DataDir, Group, OutputFormat, option
from lily.cli.output import Format, print_items, print_result
from lily.cli.running import running_lily

quality = typer.Typer(cls=Group, help="Watch how assets are used.", no_args_is_help=True)

Asset = Annotated[str, typer.Argument(metavar="ASSET", help="The asset's id or qualified name; `*` for all.")]
PolicyId = Annotated[str, typer.Argument(metavar="ID", help="The policy's id.")]
PolicyType = Annotated[str, typer.Argument(metavar="TYPE", help="The rule, such as query_count_deviation.")]
Threshold = Annotated[float | None, option("--threshold", "NUMBER", "In the unit of the rule.", "the rule's")]
EntityTypes = Annotated[
    list[str] | None, option("--entity-type", "TYPE", "With `*`: only assets of this type; repeat it for several.")
]


@quality.command("add")
def add(
    asset: Asset,
    policy_type: PolicyType,
    *,
    threshold: Threshold = None,
    entity_type: EntityTypes = None,
    severity: Annotated[
        str | None, option("--severity", "info|warning|critical", "Of its incidents.", "the rule's")
    ] = None,
    identity: Annotated[str | None, option("--id", "ID", "The policy's id.", "a new one")] = None,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Add a policy. What it finds becomes an incident, which is resolved when the cause is gone."""
    given = {"id": identity, "threshold": whole(threshold), "severity": severity}
    body: dict[str, Any] = {"asset": asset, "policy_type": policy_type, "filters": {"entity_types": entity_type or []}}
    with running_lily(data_dir) as lily:
        found = lily.create_quality_policy(body | {name: value for name, value in given.items() if value is not None})
    lines = [f"[green]✓[/] Policy {escape(found['id'])} watches {escape(asset)}."]
    lines += [f"[yellow]![/] {escape(one['description'])}" for one in found.get("warnings", ())]
    print_result(output, found, "\n".join(lines))


@quality.command("list")
def list_policies(data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """List the policies, with how many findings each has open."""
    with running_lily(data_dir) as lily:
        found = list(lily.quality_policies())
    columns = ("id", "asset", "policy_type", "threshold", "severity", "open_findings")
    print_items(output, found, columns, "There is no quality policy. `lily quality add` adds one.")


@quality.command("remove")
def remove(policy_id: PolicyId, data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """Remove a policy. Its findings are resolved."""
    with running_lily(data_dir) as lily:
        lily.delete_quality_policy(policy_id)
    print_result(output, {"removed": policy_id}, f"[green]✓[/] Policy {escape(policy_id)} is removed.")


@quality.command("usage")
def usage(
    asset: Asset,
    *,
    days: Annotated[int, option("--days", "NUMBER", "How many days, today included.")] = 14,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Show how many queries used an asset on each of the last days."""
    with running_lily(data_dir) as lily:
        found = [{"day": one.day, "query_count": one.query_count} for one in lily.usage(asset, days=days)]
    print_items(output, found, ("day", "query_count"), "")


def whole(threshold: float | None) -> float | None:
    """90 for 90.0: a threshold in days has to be a whole number."""
    return int(threshold) if threshold is not None and threshold.is_integer() else threshold
