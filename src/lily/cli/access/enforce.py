"""`lily enforce`: targets that a running Lily keeps in line with its decisions."""

# ruff: noqa: PLC0415 (the client is only imported when a command runs)

import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from lily.cli.options import DataDir, Group, OutputFormat, flag, option
from lily.cli.output import Format, counted, print_items, print_json, print_text
from lily.cli.running import running_lily
from lily.model.errors import Terminal, Transient

if TYPE_CHECKING:
    from lily.client import Lily

enforce = typer.Typer(cls=Group, help="Keep databases and other tools in line with the policies.", no_args_is_help=True)

NO_TARGET = "There is no target. `lily enforce add` adds one."
ROLES = "roles"  # the table of a configuration file that is not the plug-in's
POLL_SECONDS = 0.2
MAX_SHOWN = 20  # receipts that a status lists

TargetName = Annotated[str, typer.Argument(metavar="NAME", help="The target's name.")]
AnyTarget = Annotated[str | None, typer.Argument(metavar="[NAME]", help="The target's name; all of them without one.")]
ConfigFile = Annotated[
    Path,
    typer.Option("--config", "-c", metavar="FILE", help="The plug-in's configuration in TOML; ${ENV} is expanded."),
]
DataSource = Annotated[
    str, option("--data-source", "NAME", "Whose tables or engine mappings it has.", "the target's name")
]
Wait = Annotated[int, option("--wait", "SECONDS", "How long to wait for the result.")]


class NotInLine(Terminal):
    """The target could not be brought in line."""


class NotInTime(Transient):
    """A worker has not finished yet."""


@enforce.command("add")
def add(
    name: TargetName,
    *,
    type_: Annotated[str, option("--type", "TYPE", "The plug-in, such as postgres: see `lily plugins`.")],
    config: ConfigFile,
    data_source: DataSource = "",
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    r"""Add a target. From then on Lily keeps it in line with the decisions.

    A table `roles` in the file states what roles of the target are in Lily: `\[roles.bi_readers]` with
    `group = "bi-team"`. The rest of the file is the plug-in's. Lily stores it encrypted and never shows it again.
    """
    from lily.connect.recipes import read_toml

    settings = read_toml(config)
    roles = settings.pop(ROLES, {})
    body = {"name": name, "type": type_, "config": settings, "roles": roles}
    with running_lily(data_dir) as lily:
        found = lily.add_target(body | ({"data_source": data_source} if data_source else {}))
    _print(output, found, [f"{escape(name)} is added. `lily enforce status {escape(name)}` shows how it is."])


@enforce.command("list")
def list_targets(data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """List the targets."""
    with running_lily(data_dir) as lily:
        found = list(lily.targets())
    columns = ("name", "type", "state", "tables", "columns", "confirmed_at", "error")
    print_items(output, found, columns, NO_TARGET)


@enforce.command("status")
def status(name: AnyTarget = None, data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """Show whether targets are in line, what they wait for, what was changed by hand, and what failed."""
    with running_lily(data_dir) as lily:
        found = [lily.target(name)] if name else list(lily.targets())
        shown = [one | {"waiting": _unconfirmed(lily, one["name"])} for one in found]
    lines = [line for one in shown for line in (*status_lines(one), "")][:-1]
    _print(output, shown[0] if name else {"items": shown}, lines or [NO_TARGET])


@enforce.command("plan")
def plan(name: TargetName, data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """Show what Lily would change in a target, and change nothing."""
    with running_lily(data_dir) as lily:
        found = lily.plan_target(name)
    if "steps" not in found:
        raise NotInTime(f"The plan of {name} takes longer than a minute. `lily enforce status {name}` shows it later.")
    if found["error"]:
        raise NotInLine(f"{name} cannot be planned: {found['error']}")
    steps = [f"{escape(step['table'] or name)}: {escape(step['change'])}" for step in found["steps"]]
    _print(output, found, [*steps, *_findings(found), f"{counted(found['count'], 'step')}; nothing was changed"])


@enforce.command("apply")
def apply(name: TargetName, *, wait: Wait = 60, data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """Bring a target in line now, without waiting for a change or the next refresh."""
    with running_lily(data_dir) as lily:
        requested = lily.apply_target(name)["requested_at"]
        found = _waited(lily, name, wait, lambda now: _is_waiting(now) or _began(now) >= requested)
    if found["error"]:
        raise NotInLine(f"{name} is not in line: {found['error']}")
    if _is_waiting(found):
        raise NotInLine(f"{name} waits for you: run what `lily enforce script {name}` prints, then confirm it.")
    steps = counted(found["last_run"]["steps"], "step")
    _print(output, found, [f"{escape(name)} is in line: {counted(found['tables'], 'table')}, {steps}"])


@enforce.command("script")
def script(
    name: TargetName,
    *,
    remove: Annotated[bool, flag("--remove", "The script that takes back what earlier ones did.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Print the script of a target that Lily does not connect to, such as a warehouse."""
    with running_lily(data_dir) as lily:
        typer.echo(lily.target_script(name, remove=remove), nl=False)


@enforce.command("confirm")
def confirm(
    name: TargetName,
    *,
    digest: Annotated[
        str,
        option("--digest", "DIGEST", "The 64 hexadecimal digits after `-- Digest:` at the beginning of the script."),
    ],
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Report that a script was run completely. Lily cannot see that itself."""
    with running_lily(data_dir) as lily:
        found = lily.confirm_script(name, digest)
    _print(output, found, [f"The script of {escape(name)} is confirmed."])


@enforce.command("remove")
def remove(
    name: TargetName,
    *,
    forget: Annotated[bool, flag("--forget", "Revert nothing: the target is gone, or was never reached.")] = False,
    wait: Wait = 60,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Revert everything that Lily applied to a target, and forget the target."""
    from lily.client import NotFound

    with running_lily(data_dir) as lily:
        before = lily.target(name)
        lily.remove_target(name, forget=forget)
        try:
            found = _waited(lily, name, wait, lambda now: not forget and _failed_since(before, now))
        except NotFound:
            _print(output, {"name": name, "state": "removed"}, [_forgotten(name) if forget else _removed(before)])
            return
    why = found["error"].rstrip(".")
    raise NotInLine(f"{name} is not removed yet: {why}. Lily tries again until it is; --forget reverts nothing.")


def _waited(lily: "Lily", name: str, seconds: int, done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    deadline = time.monotonic() + seconds
    while not done(found := lily.target(name)):
        if time.monotonic() > deadline:
            raise NotInTime(f"{name} is not done after {seconds} s. `lily enforce status {name}` shows how it goes on.")
        time.sleep(POLL_SECONDS)
    return found


def _is_waiting(found: dict[str, Any]) -> bool:
    """For a person to run its script."""
    return bool(found["state"] == "waiting")


def _began(found: dict[str, Any]) -> str:
    return str((found["last_run"] or {}).get("began_at", ""))


def _failed_since(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """The error of an earlier run does not count."""
    return bool(now["error"]) and _began(now) != _began(before)


def _forgotten(name: str) -> str:
    return f"Lily forgets {escape(name)}; what it applied there is still there"


def _removed(before: dict[str, Any]) -> str:
    if _is_waiting(before) or "digest" in (before["plan"] or {}):
        return (
            f"Lily forgets {escape(before['name'])}; `lily enforce script --remove` has printed what undoes its scripts"
        )
    return f"{escape(before['name'])} is as it was before Lily"


def _print(output: Format, found: dict[str, Any], lines: list[str]) -> None:
    if output is Format.json:
        print_json(found)
    else:
        print_text("\n".join(lines))


def _unconfirmed(lily: "Lily", name: str) -> list[dict[str, Any]]:
    states = ("requested", "failed")
    return [one for state in states for one in islice(lily.enforcements(target=name, state=state), MAX_SHOWN)]


def status_lines(found: dict[str, Any]) -> list[str]:
    """A target with its unconfirmed receipts (`waiting`), for people. With rich markup."""
    colour = {"in line": "green", "failing": "red", "stopped": "red"}.get(found["state"], "yellow")
    size = f"{counted(found['tables'], 'table')}, {counted(found['columns'], 'column')}"
    tags = f"{counted(found['receipts']['confirmed'], 'tag')} enforced, {found['receipts']['waiting']:,} waiting"
    lines = [
        f"[bold {colour}]{found['state']}[/]  {escape(found['name'])} ({escape(found['type'])})",
        f"{size}; {tags}",
        f"last confirmed {found['confirmed_at'] or 'never'}{_last_run(found['last_run'])}",
    ]
    lines += [f"a run was requested {found['waiting_since']}"] if found["waiting_since"] else []
    lines += [f"[red]✗[/] {escape(found['error'])}"] if found["error"] else []
    lines += [f"[red]✗[/] {escape(one['table'])}: {escape(one['error'])}" for one in found["failed_tables"]]
    lines += [_drift_line(one) for one in found["drifted"]]
    lines += [_waiting_line(one) for one in found["waiting"]]
    return [*lines, *_findings(found)]


def _last_run(run: dict[str, Any] | None) -> str:
    return f"; last run {run['began_at']}, {counted(run['steps'], 'step')}" if run else ""


def _waiting_line(receipt: dict[str, Any]) -> str:
    change = "the removal of " if receipt["withdrawn"] else ""
    about = f"{escape(receipt['tag'])} on {escape(receipt['qualified_name'])}"
    return f"waiting since {receipt['requested_at']}: {change}{about}"


def _drift_line(drift: dict[str, Any]) -> str:
    repaired = f"repaired {drift['repaired_at']}" if drift["repaired_at"] else "[red]not repaired yet[/]"
    found = f"found {escape(drift['found'])}"
    return f"[yellow]changed by hand[/] {escape(drift['table'])}: {found}; noticed {drift['at']}, {repaired}"


def _findings(found: dict[str, Any]) -> list[str]:
    return [f"note: {escape(one['subject'])}: {escape(one['description'])}" for one in found["findings"]]
