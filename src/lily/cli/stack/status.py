"""`lily status`: the parts of the stack, its addresses, and how far the pipeline and the reactions are behind."""

# ruff: noqa: PLC0415 (the command imports the stack when it runs: `--help` need not pay for psutil and the drivers)

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from lily.cli.hints import command
from lily.cli.options import DataDir, OutputFormat, read_settings
from lily.cli.output import Format, print_error, print_json, print_table, print_text
from lily.model.errors import LilyError

if TYPE_CHECKING:
    from lily.embedded.state import StackState
    from lily.reactions.status import ReactionStatus
    from lily.settings import Settings

Value = TypeVar("Value")


def status(data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """Show the parts of the stack, their memory, the addresses, and how far the pipeline and the reactions are behind.

    The exit code is 1 if no stack is running in the data directory.
    """
    from lily.embedded.state import load

    settings = read_settings(data_dir)
    state = load(settings.data_dir)
    running = state.supervised()
    report = _report(settings, state, running=running)
    if output is Format.json:
        print_json(report)
    elif running:
        _print(report, state)
    else:
        print_text(f"No stack is running in {settings.data_dir}. Start one with `{command('up', settings.data_dir)}`.")
    if not running:
        raise typer.Exit(1)


def _report(settings: "Settings", state: "StackState", *, running: bool) -> dict[str, Any]:
    """The JSON result. Keys may be added, never removed: programs rely on it."""
    from lily.embedded.kafka.users import stack_settings
    from lily.embedded.memory import part_rows

    rows = part_rows(state) if running else []
    ready = running and state.phase == "ready" and all(row["state"] == "healthy" for row in rows)
    names = {row["name"] for row in rows}
    engines = stack_settings(settings, state)
    return {
        "parts": rows,
        "lag": _lag(engines) if ready and "pipeline" in names else {},
        "reactions": _reactions(engines, state) if ready and "worker" in names else {},
        "ready": ready,
        **_addresses(state, running=running),
        "data_dir": str(settings.data_dir),
    }


def _addresses(state: "StackState", *, running: bool) -> dict[str, str | None]:
    """The keys of `lily up --format json`. The database has no password here: status output is often shared."""
    from lily.embedded.bootstrap import url_without_password

    if not running:
        return dict.fromkeys(("url", "grpc", "kafka", "database"))
    return {
        "url": state.url,
        "grpc": state.grpc,
        "kafka": state.kafka,
        "database": url_without_password(state.database),
    }


def _lag(engines: "Settings") -> dict[str, int]:
    from lily.app import lag

    return _read("The lag", lambda: lag(engines))


def _reactions(engines: "Settings", state: "StackState") -> "dict[str, ReactionStatus]":
    from lily.app import reactions

    worker = f"http://127.0.0.1:{state.ports['worker']}"
    return _read("The state of the reactions", lambda: reactions(engines, [worker]))


def _read(what: str, read: "Callable[[], dict[str, Value]]") -> "dict[str, Value]":
    from confluent_kafka import KafkaException
    from psycopg import Error as DatabaseError

    try:
        return read()
    except (LilyError, DatabaseError, KafkaException) as error:  # an engine may be restarting
        print_error(f"{what} is unknown: {error}")
        return {}


# The sections of the text output, each a table under its own function -------------------------------------------------


def _print(report: Mapping[str, Any], state: "StackState") -> None:
    _print_parts(report["parts"], state)
    _print_addresses(report)
    _print_lag(report["lag"])
    _print_reactions(report["reactions"])
    detail = f" ({state.phase}{f': {state.detail}' if state.detail else ''})" if state.phase != "ready" else ""
    print_text("\n[green]ready[/]" if report["ready"] else f"\n[yellow]not ready[/]{detail}")


def _print_parts(rows: list[dict[str, Any]], state: "StackState") -> None:
    records = {part.name: part for part in state.parts}
    table = [
        row
        | {
            "memory": f"{row['rss_bytes'] / (1 << 20):.0f} MiB",
            "restarts": records[row["name"]].restarts,
            "detail": records[row["name"]].detail.partition("\n")[0],
        }
        for row in rows
    ]
    columns = {name: name for name in ("pid", "state", "memory", "restarts")}
    details = {"detail": "detail"} if any(row["detail"] for row in table) else {}
    print_table(table, {"name": "part"} | columns | details)


def _print_addresses(report: Mapping[str, Any]) -> None:
    names = {"url": "API", "grpc": "gRPC", "kafka": "Kafka", "database": "PostgreSQL"}
    print_text("")
    print_table(
        [{"name": name, "address": report[key]} for key, name in names.items()],
        {"name": "service", "address": "address"},
    )


def _print_lag(lag: Mapping[str, int]) -> None:
    if lag:
        print_text("")
        rows = [{"topic": topic, "behind": f"{events:,}"} for topic, events in lag.items()]
        print_table(rows, {"topic": "topic", "behind": "events behind"})


def _print_reactions(reactions: Mapping[str, "ReactionStatus"]) -> None:
    if reactions:
        print_text("")
        rows = [
            {
                "name": name,
                "lag": f"{reaction['lag']:,}",
                "parked": f"{reaction['parked']:,}",
                "rate": "unknown" if reaction["rate"] is None else f"{reaction['rate']:,.1f}/s",
                "failures": "unknown" if reaction["failures"] is None else f"{reaction['failures']:,}",
            }
            for name, reaction in reactions.items()
        ]
        columns = {"name": "reaction", "lag": "events behind", "parked": "parked", "rate": "rate"}
        print_table(rows, columns | {"failures": "failures"})
