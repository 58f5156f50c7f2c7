"""`lily notify`: channels, subscriptions and notifications of a running Lily. Mutes and mentions have their modules."""

# ruff: noqa: PLC0415 (what only some commands need is imported when they run)

import shlex
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from lily.cli.metadata import mentions, mutes
from lily.cli.options import DataDir, Group, OutputFormat, flag, option
from lily.cli.output import Format, print_items, print_json, print_result, print_text
from lily.cli.removals import add_removal
from lily.cli.running import running_lily
from lily.model.errors import Terminal

if TYPE_CHECKING:
    from lily.client import Lily

notify = typer.Typer(cls=Group, help="Notify people of incidents and changes.", no_args_is_help=True)

NO_CHANNEL = "There is no channel. `lily notify add-channel` adds one."
OWNERS = "@owners"  # the destination that stands for the owners of the assets
NO_SUBSCRIPTION = "There is no subscription. `lily notify subscribe` creates one."

ChannelName = Annotated[str, typer.Argument(metavar="CHANNEL", help="The channel's name.")]
SubscriptionName = Annotated[str, typer.Argument(metavar="SUBSCRIPTION", help="The subscription's id or name.")]
Limit = Annotated[int, option("--limit", "N", "The most to list.")]


class NotDelivered(Terminal):
    """The test did not arrive."""


class NoSubscription(Terminal):
    """No subscription, or more than one, has that name."""


@notify.command("channels")
def channels(data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """List the channels, and the destinations that fail."""
    with running_lily(data_dir) as lily:
        found = list(lily.channels())
    if output is Format.json:
        print_json({"items": found})
        return
    shown = [one | {"failing": len(one["failing"])} for one in found]
    print_items(output, shown, ("name", "type", "per_second", "subscriptions", "failing"), NO_CHANNEL)
    for one in found:
        for failing in one["failing"]:
            where = escape(f"{one['name']}, {failing['destination'] or 'its only destination'}")
            again = failing["paused_until"] or ("none" if failing["gone"] else "with the next message")
            print_text(f"{where}: {escape(failing['error'])} (next attempt: {again})")


@notify.command("add-channel")
def add_channel(
    name: ChannelName,
    *,
    type_: Annotated[str, option("--type", "TYPE", "The plug-in, such as slack: see `lily plugins`.")],
    config: Annotated[
        Path,
        typer.Option("--config", "-c", metavar="FILE", help="Its configuration in TOML; ${ENV} is expanded."),
    ],
    per_second: Annotated[float | None, option("--per-second", "N", "The most messages to one destination.")] = None,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Add a channel. Lily stores its configuration encrypted and never shows it again."""
    from lily.connect.recipes import read_toml

    body = {"name": name, "type": type_, "config": read_toml(config), "per_second": per_second}
    with running_lily(data_dir) as lily:
        found = lily.add_channel(body)
    print_result(output, found, f"{escape(name)} is added. `lily notify test {escape(name)}` sends a test.")


add_removal(
    notify,
    "remove-channel",
    "Remove a channel that no subscription names.",
    ChannelName,
    lambda lily, name: lily.remove_channel(name),
)


@notify.command("test")
def send_test(
    name: ChannelName,
    destination: Annotated[str, typer.Argument(metavar="[DESTINATION]", help="Where to send it.")] = "",
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Send a test now, and show what the receiver returned."""
    with running_lily(data_dir) as lily:
        found = lily.send_test(name, destination)
    if "delivered" not in found:
        raise NotDelivered(f"No worker has sent the test of {name} yet. `lily status` shows whether one runs.")
    if not found["delivered"]:
        raise NotDelivered(f"The test of {name} did not arrive: {found['error']}")
    returned = f", the receiver returned {escape(found['receiver_id'])}" if found["receiver_id"] else ""
    print_result(output, found, f"The test arrived after {found['seconds']} s{returned}.")


@notify.command("subscriptions")
def subscriptions(data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """List the subscriptions."""
    with running_lily(data_dir) as lily:
        found = list(lily.subscriptions())
    shown = found if output is Format.json else [one | {"filters": _filters(one["filters"])} for one in found]
    print_items(output, shown, ("id", "name", "channel", "destination", "enabled", "filters"), NO_SUBSCRIPTION)


@notify.command("subscribe")
def subscribe(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The subscription in TOML.")],
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Create a subscription from a file."""
    from lily.connect.recipes import read_toml

    with running_lily(data_dir) as lily:
        found = lily.subscribe(read_toml(file))
    print_result(output, found, f"{escape(found['name'])} is created: {found['id']}{_next_step(found)}")


add_removal(
    notify,
    "unsubscribe",
    "Delete a subscription.",
    SubscriptionName,
    lambda lily, subscription: lily.unsubscribe(_identity(lily, subscription)),
)


@notify.command("explain")
def explain(
    subscription: SubscriptionName,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The id of a notification, an incident or a change.")],
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Show why an event was sent to a subscription, or not."""
    with running_lily(data_dir) as lily:
        found = lily.explain_subscription(_identity(lily, subscription), event)
    lines = [line for item in found["items"] for line in (*_explained(item), "")][:-1]
    print_result(output, found, "\n".join(lines))


@notify.command("list")
def list_notifications(
    *,
    kind: Annotated[str | None, option("--kind", "KIND", "Only this kind, such as incident.opened or tag.*.")] = None,
    severity: Annotated[str | None, option("--severity", "info|warning|critical", "Only these.")] = None,
    asset: Annotated[str | None, option("--asset", "ASSET", "Only those about an asset, by id or name.")] = None,
    muted: Annotated[bool, flag("--muted", "Those that a mute suppressed instead of the others.")] = False,
    limit: Limit = 50,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """List notifications, the newest first."""
    with running_lily(data_dir) as lily:
        listed = lily.notified(kind=kind, severity=severity, asset=asset, muted=muted)
        found = list(islice(listed, max(limit, 0)))
    columns = ("id", "at", "kind", "severity", "title", "acknowledged_by")
    print_items(output, found, columns, "There is no such notification.")


@notify.command("show")
def show(
    notification: Annotated[str, typer.Argument(metavar="ID", help="The notification's id.")],
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Show a notification, and what became of each of its deliveries."""
    with running_lily(data_dir) as lily:
        found = lily.notification(notification)
    print_result(output, found, "\n".join(notification_lines(found)))


notify.command("mutes")(mutes.mutes)
notify.command("mute")(mutes.mute)
add_removal(notify, "unmute", "End a mute.", mutes.MuteId, lambda lily, mute: lily.unmute(mute))
notify.command("mentions")(mentions.mentions)
notify.command("set-mention")(mentions.set_mention)
add_removal(
    notify,
    "remove-mention",
    "Remove the handles of an owner or team.",
    mentions.OwnerName,
    lambda lily, name: lily.remove_mention(name),
)


def notification_lines(found: dict[str, Any]) -> list[str]:
    """A notification for people. With rich markup."""
    muted = " (muted)" if found["muted"] else ""
    lines = [f"[bold]{escape(found['title'])}[/]{muted}", escape(found["text"])]
    nowhere = [] if found["deliveries"] else ["No subscription matched it: `lily notify explain` shows why."]
    return lines + [_delivery(one) for one in found["deliveries"]] + nowhere


def _delivery(found: dict[str, Any]) -> str:
    where = f"to {found['destination'] or 'its only destination'} over {found['channel']}"
    at = f" at {found['delivered_at']}" if found["delivered_at"] else ""
    why = found["error"] or found["reason"]
    return escape(f"{found['state']} {where}{at}, attempts: {found['attempts']}" + (f": {why}" if why else ""))


def _identity(lily: "Lily", subscription: str) -> str:
    """The id of the subscription that has this name, or this id."""
    found = [one["id"] for one in lily.subscriptions() if subscription in {one["id"], one["name"]}]
    if not found:
        raise NoSubscription(f"No subscription is called {subscription!r}. See `lily notify subscriptions`.")
    if len(found) > 1:
        raise NoSubscription(f"{len(found)} subscriptions are called {subscription!r}: {', '.join(found)}. Use the id.")
    return str(found[0])


def _next_step(subscription: dict[str, Any]) -> str:
    """Only the channel knows whether it has the destination, so a test finds a typing error."""
    if subscription["destination"] == OWNERS:
        return ""
    words = shlex.join(["lily", "notify", "test", subscription["channel"], subscription["destination"]])
    return f"\n`{escape(words)}` shows whether its destination can be reached."


def _explained(item: dict[str, Any]) -> list[str]:
    findings = [
        f"  {'yes' if one['matched'] else 'no '}  {escape(one['filter'])}: {escape(one['reason'])}"
        for one in item["filters"]
    ]
    others = [f"  {name}: {escape(item[key])}" for key, name in _OTHERS.items() if item[key]]
    return [f"{escape(item['kind'])} at {item['at']}: {escape(item['answer'])}", *findings, *others]


_OTHERS = {"mute": "mute", "quiet_hours": "quiet hours", "group": "group"}


def _filters(filters: dict[str, Any]) -> str:
    stated = {name: value for name, value in filters.items() if value and name != "descendants"}
    return "; ".join(
        f"{name}: {', '.join(value) if isinstance(value, list) else value}" for name, value in stated.items()
    )
