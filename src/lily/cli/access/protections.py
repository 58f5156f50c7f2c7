"""`lily protections`: what ended without authority and still conducts protective tags."""

from itertools import islice
from typing import Annotated, Any

import typer
from rich.markup import escape

from lily.cli.access.pending_items import chosen_items, short_id
from lily.cli.options import DataDir, Group, OutputFormat, flag, option
from lily.cli.output import Format, print_items, print_json, print_text
from lily.cli.running import running_lily
from lily.model.errors import Terminal

protections = typer.Typer(
    cls=Group, help="Review what ended without authority and still conducts protective tags.", no_args_is_help=True
)

COLUMNS = ("item", "kind", "what", "tags", "keeps", "ended_by", "ended_at")
MAX_NAME = 40  # characters of a name in the table
WAIT_SECONDS = 30
AT_ONCE = 1_000  # of a request that confirms many

_ITEMS = "Items that `lily protections list` shows, or the beginning of one if no other begins so; or ids."

ItemIds = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help=_ITEMS)]


class NotDecided(Terminal):
    """Some of the items were not decided."""


@protections.command("list")
def list_pending(
    *,
    limit: Annotated[int, option("--limit", "NUMBER", "The most items.")] = 50,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """List what is pending, with the number of assets that keep tags because of it. Needs a token with policy:read.

    `--format json` has the ids, all names in full, and the assets.
    """
    with running_lily(data_dir) as lily:
        found = list(islice(lily.pending_protections(), max(limit, 0)))
    rows = [_row(one) for one in found]
    print_items(output, found, COLUMNS, "Nothing is pending.", rows)


@protections.command("confirm")
def confirm(
    ids: ItemIds = None,
    *,
    every: Annotated[bool, flag("--all", "Everything that is pending now.")] = False,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Confirm that items have ended, so that they no longer conduct. Needs a token with policy:write."""
    if bool(ids) == every:
        raise Terminal("Name the items to confirm by their ids, or confirm all that is pending with --all.")
    with running_lily(data_dir) as lily:
        chosen = chosen_items(lily, ids) if ids else [one["id"] for one in lily.pending_protections()]
        parts = [chosen[start : start + AT_ONCE] for start in range(0, len(chosen), AT_ONCE)]
        decided = [one for part in parts for one in lily.confirm_protections(part, wait=WAIT_SECONDS)["items"]]
    _report(output, decided, "confirmed")


@protections.command("undo")
def undo(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help=_ITEMS)],
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Undo the end of items: they are visible again. Needs a token with policy:write."""
    with running_lily(data_dir) as lily:
        decided = [lily.undo_protection(one, wait=WAIT_SECONDS) for one in chosen_items(lily, ids)]
    _report(output, [{"id": one["id"], "outcome": one["outcome"]} for one in decided], "undone")


def _report(output: Format, decided: list[dict[str, Any]], done: str) -> None:
    """Raises NotDecided, with every item that was not, after the others."""
    others = [one for one in decided if one["outcome"] != done]
    if output is Format.json:
        print_json({"items": decided})
        if others:
            raise typer.Exit(1)
    else:
        print_text(f"[green]✓[/] {len(decided) - len(others)} {done}")
    if others:
        lines = [f"{one['id']}: {escape(one['outcome'].replace('_', ' '))}" for one in others]
        raise NotDecided(
            "\n".join(("These items were not decided. `lily protections list` shows what is pending.", *lines))
        )


def _row(one: dict[str, Any]) -> dict[str, str]:
    return {
        "item": short_id(one["id"]),
        "kind": one["kind"],
        "what": _what(one),
        "tags": ", ".join(one["tags"]),
        "keeps": _count(one),
        "ended_by": _shortened(one["ended_by"] or "not known"),
        "ended_at": (one["ended_at"] or "")[:16].replace("T", " "),
    }


def _what(one: dict[str, Any]) -> str:
    """The names of what an item is about, or ids where no name is known."""
    ends = [_shortened(one.get(f"{end}_name") or one[end]) for end in ("from", "to", "asset") if one.get(end)]
    by_job = f" ({_shortened(one.get('job_name') or one['job'])})" if one.get("job") else ""
    return " → ".join(ends) + by_job


def _shortened(name: str) -> str:
    """Without the beginning of a long name: names of one database begin alike."""
    return name if len(name) <= MAX_NAME else f"…{name[1 - MAX_NAME :]}"


def _count(one: dict[str, Any]) -> str:
    return f"{one['count']}{'+' if one['more'] else ''}"
