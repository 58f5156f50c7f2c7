"""`lily notify mute` and what belongs to it: for a while nothing is sent about an asset or a kind of event."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.markup import escape

from lily.cli.options import DataDir, OutputFormat, option
from lily.cli.output import Format, print_items, print_result
from lily.cli.running import running_lily
from lily.model import clock
from lily.model.durations import parse_duration
from lily.model.errors import Terminal

NO_MUTE = "Nothing is muted. `lily notify mute` mutes an asset or a kind of event."

MuteId = Annotated[str, typer.Argument(metavar="ID", help="The mute's id: see `lily notify mutes`.")]


class TwoEnds(Terminal):
    """A mute was given two ends."""


def mutes(data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """List the mutes that have not ended."""
    with running_lily(data_dir) as lily:
        found = list(lily.mutes())
    print_items(output, found, ("id", "asset", "kind", "until", "by", "reason"), NO_MUTE)


def mute(
    *,
    asset: Annotated[str | None, option("--asset", "ASSET", "Mute it and what is below it: an id or a name.")] = None,
    kind: Annotated[str | None, option("--kind", "KIND", "Mute this kind, such as tag.tagged or incident.*.")] = None,
    until: Annotated[str | None, option("--until", "TIME", "When it ends, such as 2030-01-01T08:00:00Z.")] = None,
    lasting: Annotated[str, option("--for", "TIME", "How long it lasts: 30m, 1h or 7d.", "until it is ended")] = "",
    reason: Annotated[str, option("--reason", "TEXT", "Why, for those who look for a message.")] = "",
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Mute an asset, a kind of event, or a kind for an asset, for all subscriptions.

    What happens meanwhile is not sent later; `lily notify list --muted` shows it.
    """
    if until and lasting:
        raise TwoEnds(f"--until {until} and --for {lasting} both state when the mute ends. State one of them.")
    ends = clock.stamp(datetime.now(UTC) + timedelta(seconds=parse_duration(lasting))) if lasting else until
    with running_lily(data_dir) as lily:
        found = lily.mute(asset=asset, kind=kind, until=ends, reason=reason)
    what = escape(" of ".join(one for one in (kind, asset) if one))
    end = f"until {found['until']}" if found["until"] else f"until `lily notify unmute {found['id']}`"
    print_result(output, found, f"{what} is muted {end}.")
