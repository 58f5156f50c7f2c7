"""`lily up`: starts the embedded stack, in the foreground or left running."""

# ruff: noqa: PLC0415 (the commands import the stack when they run: `--help` need not pay for psutil and the drivers)

import signal
from typing import TYPE_CHECKING, Annotated

import typer

from lily.cli.answer import print_json, say
from lily.cli.jars import fetch_jars
from lily.cli.options import AnswerFormat, DataDir, Format, read_settings
from lily.cli.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from lily.embedded.stack import Stack
    from lily.embedded.state import StackState


Port = Annotated[
    int | None, typer.Option("--port", help="Where the API listens (LILY_PORT; default 8585).", show_default=False)
]
Parts = Annotated[str, typer.Option("--parts", hidden=True, help="Only these parts, separated by commas.")]


def up(
    port: Port = None,
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Leave it running and return when it is ready.")
    ] = False,
    parts: Parts = "",
    data_dir: DataDir = None,
    answer: AnswerFormat = Format.text,
) -> None:
    """Start Kafka, PostgreSQL, the pipeline, the worker and the API on this machine.

    Returns with Ctrl-C or `lily down`; with --detach as soon as everything is ready.
    """
    from lily.cli.detach import start_detached
    from lily.embedded.stack import Stack

    settings = read_settings(data_dir, port)
    fetch_jars(settings)
    with Progress(to_stderr=answer is Format.json) as progress:
        if detach:
            state = start_detached(settings, parts, progress.show)
        else:
            _run(Stack(settings, _names(parts)), _until_ready(progress, answer))
            return
    announce(state, answer)


def supervise(port: Port = None, parts: Parts = "", data_dir: DataDir = None) -> None:
    """Run the stack without a word: what `lily up --detach` leaves behind."""
    from lily.embedded.stack import Stack

    _run(Stack(read_settings(data_dir, port), _names(parts)), lambda _: None)


def _run(stack: "Stack", watch: "Callable[[StackState], None]") -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stack.stop())
    stack.run(watch)


def _until_ready(progress: Progress, answer: Format) -> "Callable[[StackState], None]":
    """Progress first, the addresses once it is ready, then silence until it stops."""
    told: list[str] = []

    def watch(state: "StackState") -> None:
        if not told:
            progress.show(state)
        if state.phase == "ready" and not told:
            told.append("ready")
            progress.__exit__(None, None, None)
            announce(state, answer)

    return watch


def announce(state: "StackState", answer: Format) -> None:
    """The addresses, the key, and what to try first."""
    from lily.embedded.bootstrap import admin_token

    token = admin_token(state.data_dir)
    if answer is Format.json:
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
    say(f"\n[bold green]Lily is ready[/] at [bold]{state.url}[/] (its description: {state.url}/docs)")
    addresses = (("gRPC", state.grpc), ("Kafka", state.kafka), ("PostgreSQL", state.database))
    for name, value in (("admin token", token), *addresses):
        say(f"  {name:<12} {value}")
    say(f"  {'files, logs':<12} {state.data_dir}")
    if token:
        say(f"\nTry it:\n{_first_call(state.url, token)}")
    say("\nStop it with Ctrl-C or `lily down`.")


def _first_call(url: str, token: str) -> str:
    body = '{"entity_type": "table", "attributes": {"name": "orders", "qualified_name": "shop.public.orders"}}'
    headers = f"-H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' -H 'Prefer: wait=10'"
    return f"  curl {url}/ingest-metadata {headers} -d '{body}'"


def _names(parts: str) -> tuple[str, ...]:
    from lily.embedded.stack import PARTS

    return tuple(name.strip() for name in parts.split(",") if name.strip()) or PARTS
