"""`lily up`: starts the embedded stack, in the foreground or in the background."""

# ruff: noqa: PLC0415 (the commands import the stack when they run: `--help` need not pay for psutil and the drivers)

import signal
from typing import TYPE_CHECKING, Annotated

import typer

from lily.cli.deployment.jars import fetch_jars
from lily.cli.hints import command
from lily.cli.options import DataDir, OutputFormat, Port, flag, read_settings
from lily.cli.output import Format, print_json, print_text
from lily.cli.stack.startup_progress import StartupProgress

if TYPE_CHECKING:
    from collections.abc import Callable

    from lily.embedded.stack import Stack
    from lily.embedded.state import StackState


Parts = Annotated[str, typer.Option("--parts", hidden=True, help="Start only these parts, separated by commas.")]


def up(
    *,
    port: Port = None,
    detach: Annotated[bool, flag("--detach", "Return when the stack is ready and leave it running.", "-d")] = False,
    parts: Parts = "",
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Start Kafka, PostgreSQL, the Spark pipeline, the worker and the API on this machine.

    Prints the addresses and an admin token of the tenant `default` when everything is ready. Without --detach it then
    keeps running until Ctrl-C or `lily down`. Data is kept in the data directory and is there again at the next start.
    """
    from lily.cli.stack.detach import start_detached
    from lily.embedded.java import find_java
    from lily.embedded.stack import ON_JAVA, Stack

    settings = read_settings(data_dir, port)
    if ON_JAVA.intersection(_names(parts)):
        find_java()  # before anything starts: a part that starts without Java is restarted again and again
    fetch_jars(settings)
    with StartupProgress(to_stderr=output is Format.json) as progress:
        if detach:
            state = start_detached(settings, parts, progress.show)
        else:
            _run(Stack(settings, _names(parts)), _until_ready(progress, output))
            return
    announce(state, output, detached=True)


def supervise(port: Port = None, parts: Parts = "", data_dir: DataDir = None) -> None:
    """Run the stack without any output. `lily up --detach` starts this command in the background."""
    from lily.embedded.stack import Stack

    _run(Stack(read_settings(data_dir, port), _names(parts)), lambda _: None)


def _run(stack: "Stack", on_change: "Callable[[StackState], None]") -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stack.stop())
    stack.run(on_change)


def _until_ready(progress: StartupProgress, output: Format) -> "Callable[[StackState], None]":
    """Returns a callback that shows progress, then the addresses once, and afterwards only that the stack stops."""
    announced = stopping = False

    def on_change(state: "StackState") -> None:
        nonlocal announced, stopping
        if announced:
            if state.phase == "stopping" and not stopping and output is Format.text:
                stopping = True
                print_text("\nstopping")
            return
        progress.show(state)
        if state.phase == "ready":
            announced = True
            progress.stop()
            announce(state, output, detached=False)

    return on_change


def announce(state: "StackState", output: Format, *, detached: bool) -> None:
    """Prints the addresses, the admin token and a first call to try."""
    from lily.embedded.bootstrap import admin_token

    token = admin_token(state.data_dir)
    if output is Format.json:
        print_json(
            {
                "url": state.url,
                "grpc": state.grpc,
                "kafka": state.kafka,
                "database": state.database,
                "token": token,
                "data_dir": str(state.data_dir),
            }
        )
        return
    print_text(f"\n[bold green]Lily is ready[/] at [bold]{state.url}[/] (API reference: {state.url}/docs)")
    addresses = (("gRPC", state.grpc), ("Kafka", state.kafka), ("PostgreSQL", state.database))
    for name, value in (("Admin token", token), *addresses, ("Data and logs", state.data_dir)):
        if value:  # without the services there is no token
            print_text(f"  {name:<14} {value}")
    if token:
        print_text(f"\nTry it:\n{_first_call(state, token)}")
    if state.kafka_passwords:
        print_text(f"\nClients of Kafka log in with what `{command('kafka-client', state.data_dir)}` prints.")
    stop = f"`{command('down', state.data_dir)}`"
    if detached:
        print_text(
            f"\nIt runs in the background. Check it with `{command('status', state.data_dir)}`, stop it with {stop}."
        )
    else:
        print_text(f"\nStop it with Ctrl-C, or from another terminal with {stop}.")


def _first_call(state: "StackState", token: str) -> str:
    body = '{"entity_type": "table", "attributes": {"name": "customers", "qualified_name": "shop.public.customers"}}'
    headers = f"-H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' -H 'Prefer: wait=10'"
    trust = f"--cacert {state.certificate} " if state.certificate else ""
    return f"  curl {trust}{state.url}/ingest-metadata {headers} -d '{body}'"


def _names(parts: str) -> tuple[str, ...]:
    from lily.embedded.stack import PARTS

    return tuple(name.strip() for name in parts.split(",") if name.strip()) or PARTS
