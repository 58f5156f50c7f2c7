"""`lily incidents`: issues of data that a running Lily knows."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from lily.cli.options import DataDir, Group, OutputFormat, option
from lily.cli.output import Format, counted, print_items, print_result
from lily.cli.running import running_lily

if TYPE_CHECKING:
    from collections.abc import Callable

    from lily.client import Lily

incidents = typer.Typer(cls=Group, help="See, acknowledge and resolve incidents.", no_args_is_help=True)

NONE = "There is no such incident. Other systems report them: see docs/how-to/receive-incidents.md."
COLOURS = {"critical": "red", "warning": "yellow", "info": "blue"}

IncidentId = Annotated[str, typer.Argument(metavar="ID", help="The incident's id.")]
Note = Annotated[str, option("--note", "TEXT", "What to add to the history.")]
Limit = Annotated[int, option("--limit", "N", "The most incidents to list.")]


@incidents.command("list")
def list_incidents(
    *,
    state: Annotated[str | None, option("--state", "open|acknowledged|resolved", "Only these.")] = None,
    severity: Annotated[str | None, option("--severity", "info|warning|critical", "Only these.")] = None,
    source: Annotated[str | None, option("--source", "NAME", "Only what this system reported.")] = None,
    asset: Annotated[str | None, option("--asset", "ASSET", "Only those of an asset, by id or name.")] = None,
    q: Annotated[str | None, option("--q", "WORDS", "Only those whose title has these words.")] = None,
    limit: Limit = 50,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """List incidents, the newest first."""
    with running_lily(data_dir) as lily:
        found = list(
            islice(lily.incidents(state=state, severity=severity, source=source, asset=asset, q=q), max(limit, 0))
        )
    rows = [one | {"assets": _named(one)} for one in found]
    columns = ("incident_id", "state", "severity", "source", "opened_at", "assets", "title")
    print_items(output, found, columns, NONE, rows)


@incidents.command("show")
def show(incident_id: IncidentId, data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """Show an incident: its assets, its links, and what was stated about it."""
    with running_lily(data_dir) as lily:
        found = lily.incident(incident_id)
    print_result(output, found, "\n".join(incident_lines(found)))


def _stating(name: str, description: str, state: "Callable[[Lily, str, str], dict[str, Any]]") -> None:
    """Adds a command that states something about an incident."""

    def run(
        incident_id: IncidentId, *, note: Note = "", data_dir: DataDir = None, output: OutputFormat = Format.text
    ) -> None:
        with running_lily(data_dir) as lily:
            found = state(lily, incident_id, note)
        print_result(output, found, f"{escape(found['title'] or found['incident_id'])} is {found['state']}")

    incidents.command(name, help=description)(run)


_stating(
    "ack",
    "State that somebody takes care of an incident.",
    lambda lily, incident_id, note: lily.acknowledge_incident(incident_id, note=note),
)
_stating(
    "resolve",
    "State that an incident is over.",
    lambda lily, incident_id, note: lily.resolve_incident(incident_id, note=note),
)


def incident_lines(found: dict[str, Any]) -> list[str]:
    """An incident for people. With rich markup."""
    colour = COLOURS[found["severity"]]
    lines = [
        f"[bold {colour}]{found['severity']}[/] [bold]{found['state']}[/]  {escape(found['title'] or '(no title)')}",
        f"{escape(found['source'])} {escape(found['external_id'])}, opened {found['opened_at']}",
    ]
    lines += [escape(found["description"])] if found["description"] else []
    lines += [f"owner {escape(found['owner'])}"] if found["owner"] else []
    lines += [f"{escape(link['name'])}: {escape(link['url'])}" for link in found["links"]]
    lines += [f"on {escape(asset['qualified_name'] or asset['metadata_id'])}" for asset in found["assets"]]
    lines += [f"on {escape(name)}, which no asset is called yet" for name in found["unmatched"]]
    return [*lines, *map(_message, found["history"])]


def _message(entry: dict[str, Any]) -> str:
    change = entry["change"]
    stated = change.get("state") or ("updated" if "rank" in change else "check passed")
    note = f": {escape(change['note'])}" if change.get("note") else ""
    return f"{entry['at']}  {escape(entry['by'] or change['source'])} {stated}{note}"


def _named(found: dict[str, Any]) -> str:
    names = [asset["qualified_name"] or asset["metadata_id"] for asset in found["assets"]]
    return ", ".join(names[:1]) + (f" and {counted(len(names) - 1, 'other')}" if len(names) > 1 else "")
