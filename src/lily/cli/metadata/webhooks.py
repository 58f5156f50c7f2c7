"""`lily webhooks`: secrets of the sources that send webhooks, and mappings that read their messages."""

# ruff: noqa: PLC0415 (what only some commands need is imported when they run)

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from lily.cli.options import DataDir, Group, OutputFormat, flag, option
from lily.cli.output import Format, print_items, print_json, print_result, print_text
from lily.cli.removals import add_removal
from lily.cli.running import running_lily
from lily.model.errors import Terminal

if TYPE_CHECKING:
    from lily.client import Lily

webhooks = typer.Typer(cls=Group, help="Receive webhooks of other systems: secrets and mappings.", no_args_is_help=True)

SHIPPED, OWN, PLUGGED_IN, NOTHING = "mapping of Lily", "own mapping", "plug-in", "nothing"

Source = Annotated[str, typer.Argument(metavar="SOURCE", help="What the address names: /webhook/SOURCE.")]
MappingName = Annotated[str, typer.Argument(metavar="NAME", help="The mapping's name, which is that of its source.")]


class BadFile(Terminal):
    """A file of the command line is not what the command reads."""


class NoSecret(Terminal):
    """No secret was given."""


@webhooks.command("list")
def list_sources(data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """List the sources: what reads their messages, and since when each has its secret."""
    with running_lily(data_dir) as lily:
        readers, secrets = _readers(lily), {one["source"]: one for one in lily.webhook_secrets()}
    found = [
        {
            "source": source,
            "read_by": readers.get(source, NOTHING),
            "secret_since": secrets.get(source, {}).get("created_at"),
            "previous_valid_until": secrets.get(source, {}).get("previous_valid_until"),
        }
        for source in sorted(readers | secrets)
    ]
    print_items(output, found, ("source", "read_by", "secret_since", "previous_valid_until"), "")


@webhooks.command("set-secret")
def set_secret(
    source: Source,
    *,
    generate: Annotated[bool, flag("--generate", "Make a new secret and print it, once.")] = False,
    keep: Annotated[
        int | None, option("--keep-previous-for", "SECONDS", "How long the secret before stays valid.", "a day")
    ] = None,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Set the secret with which a source signs. It is read from the standard input, or asked for.

    Lily stores it encrypted and never shows it again.
    """
    secret = _new_secret() if generate else _given_secret(source)
    with running_lily(data_dir) as lily:
        readers = _readers(lily)
        found = lily.put_webhook_secret(source, secret, keep_previous_for=keep)
        where = f"{lily.url}/webhook/{source}?tenant=TENANT"
    if output is Format.json:
        print_json(found | ({"secret": secret} if generate else {}))
        return
    print_text(f"The secret of {escape(source)} is set. Let it send to {escape(where)}")
    if source not in readers:
        print_text(escape(_unread(source, readers)))
    if generate:
        print_text(secret)


add_removal(
    webhooks,
    "remove-secret",
    "Remove all secrets of a source: its webhooks are refused from now on.",
    Source,
    lambda lily, source: lily.remove_webhook_secret(source),
)


@webhooks.command("show-mapping")
def show_mapping(name: MappingName, data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """Print a mapping as JSON, as `put-mapping` reads it."""
    with running_lily(data_dir) as lily:
        found = lily.webhook_mapping(name)
    mapping = {key: value for key, value in found.items() if key != "shipped"}
    print_result(output, mapping, escape(json.dumps(mapping, indent=2, ensure_ascii=False)))


@webhooks.command("put-mapping")
def put_mapping(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The mapping in JSON.")],
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Create a mapping, or replace the one of that name."""
    mapping = _read_json(file)
    if not isinstance(mapping, dict) or not isinstance(mapping.get("name"), str):
        raise BadFile(f"{file} is not a mapping: it must be a JSON object with a name.")
    name = mapping["name"]
    with running_lily(data_dir) as lily:
        exists = any(one["name"] == name and not one["shipped"] for one in lily.webhook_mappings())
        found = lily.replace_webhook_mapping(name, mapping) if exists else lily.create_webhook_mapping(mapping)
    done = "replaced" if exists else "created"
    print_result(output, found, f"The mapping {escape(name)} is {done}. `lily webhooks test {escape(name)}` tries it.")


add_removal(
    webhooks,
    "remove-mapping",
    "Remove a mapping of your own. Incidents stay; a shipped mapping of that name is used again.",
    MappingName,
    lambda lily, name: lily.remove_webhook_mapping(name),
)


@webhooks.command("test")
def try_mapping(
    name: MappingName,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A message of the source, in JSON.")],
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Show what a message would become. Nothing is stored."""
    message = _read_json(file)
    with running_lily(data_dir) as lily:
        found = lily.try_webhook_mapping(name, message)
    rows = [_outcome(one) for one in found]
    print_items(output, found, tuple(_outcome({"outcome": ""})), "The message has no items: compare `items`.", rows)


def _readers(lily: "Lily") -> dict[str, str]:
    """What reads the messages of each source, as far as this installation knows: the server may have other plug-ins."""
    from lily.plugins import INTAKES, installed

    mappings = {one["name"]: SHIPPED if one["shipped"] else OWN for one in lily.webhook_mappings()}
    return {one.name: PLUGGED_IN for one in installed().plugins(INTAKES)} | mappings


def _unread(source: str, readers: dict[str, str]) -> str:
    from lily.model.suggestions import similar

    meant = similar(source, readers)
    remedy = f"did you mean {meant}? Otherwise add a mapping" if meant else "add a mapping"
    return f"Nothing reads webhooks of {source} yet: {remedy} with `lily webhooks put-mapping`."


def _new_secret() -> str:
    from secrets import token_hex

    return token_hex(32)


def _given_secret(source: str) -> str:
    given = typer.prompt(f"Secret of {source}", hide_input=True) if sys.stdin.isatty() else sys.stdin.read()
    if not given.strip():
        raise NoSecret(f"No secret of {source} is given. Pass it on the standard input, or use --generate.")
    return str(given).strip()


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"{file} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise BadFile(f"{file} is not JSON: {error}.") from error


def _outcome(item: dict[str, Any]) -> dict[str, Any]:
    statement = item.get("statement") or {}
    problems = "; ".join(one["description"] for one in item.get("errors") or ())
    shown = {name: statement.get(name) for name in ("external_id", "state", "severity", "tables", "title")}
    return {"outcome": item["outcome"], **shown, "reason": item.get("reason") or problems}
