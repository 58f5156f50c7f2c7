"""`lily notify set-mention` and what belongs to it: what owners and teams are called where messages go."""

# ruff: noqa: PLC0415 (the client is imported when a command runs)

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape

from lily.cli.options import DataDir, OutputFormat, option
from lily.cli.output import Format, print_items, print_result
from lily.cli.running import running_lily
from lily.model.errors import Terminal

NO_MENTION = "There is no mention. `lily notify set-mention` states what an owner is called where messages go."

OwnerName = Annotated[str, typer.Argument(metavar="OWNER", help="The owner or team, as assets name it.")]
Handles = Annotated[
    list[str],
    option("--handle", "CHANNEL=HANDLE", "What the owner is called there: by the channel's name or type. Repeatable."),
]


class BadHandle(Terminal):
    """A handle of the command line is not stated as one."""


def mentions(data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """List what owners and teams are called where messages go."""
    with running_lily(data_dir) as lily:
        found = list(lily.mentions())
    rows = [one | {"handles": ", ".join(f"{key}={value}" for key, value in one["handles"].items())} for one in found]
    print_items(output, found, ("name", "handles"), NO_MENTION, rows)


def set_mention(
    name: OwnerName, *, handle: Handles, data_dir: DataDir = None, output: OutputFormat = Format.text
) -> None:
    """State all handles of an owner or team: for mentions in texts, and for the destination @owners."""
    from lily.client import NotFound

    handles = _read(handle)
    with running_lily(data_dir) as lily:
        try:
            found = lily.change_mention(name, handles)
        except NotFound:
            found = lily.create_mention(name, handles)
    places = ", ".join(found["handles"])
    print_result(output, found, f"{escape(found['name'])} is known in {escape(places)}.")


def _read(stated: Sequence[str]) -> dict[str, str]:
    handles: dict[str, str] = {}
    for one in stated:
        channel, equals, handle = (part.strip() for part in one.partition("="))
        if not (channel and equals and handle):
            raise BadHandle(f"--handle {one} is not CHANNEL=HANDLE. State it as in slack=U024BE7LH.")
        handles[channel] = handle
    return handles
