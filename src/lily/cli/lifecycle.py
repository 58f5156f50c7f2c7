"""`lily down` and `lily status`."""

# ruff: noqa: PLC0415 (the commands import the stack when they run: `--help` need not pay for psutil and the drivers)

from typing import TYPE_CHECKING

import typer

from lily.cli.answer import complain, print_json, print_table, say
from lily.cli.options import AnswerFormat, DataDir, Format, read_settings
from lily.model.errors import LilyError

if TYPE_CHECKING:
    from lily.embedded.state import StackState
    from lily.settings import Settings


def down(data_dir: DataDir = None, answer: AnswerFormat = Format.text) -> None:
    """Stop the stack of this data directory, and whatever a crash left of it. It is no error if nothing runs."""
    from lily.embedded.shutdown import stop_stack

    directory = read_settings(data_dir).data_dir
    stopped = stop_stack(directory)
    if answer is Format.json:
        print_json({"stopped": stopped})
    else:
        say(f"[green]✓[/] Stopped {directory}" if stopped else f"Nothing runs in {directory}.")


def status(data_dir: DataDir = None, answer: AnswerFormat = Format.text) -> None:
    """Show the parts, their memory and how far the pipeline is behind. Exit code 1 if nothing runs."""
    from lily.embedded.memory import part_rows
    from lily.embedded.state import load

    settings = read_settings(data_dir)
    state = load(settings.data_dir)
    alive = state.supervised()
    rows = part_rows(state) if alive else []
    ready = alive and state.phase == "ready" and all(row["state"] == "healthy" for row in rows)
    lag = _lag(settings, state) if ready and any(part.name == "pipeline" for part in state.parts) else {}
    if answer is Format.json:
        print_json({"parts": rows, "lag": lag, "ready": ready})
    elif alive:
        _describe(rows, lag, ready=ready)
    else:
        say(f"Nothing runs in {settings.data_dir}. Start it with `lily up`.")
    if not alive:
        raise typer.Exit(1)


def _lag(settings: "Settings", state: "StackState") -> dict[str, int]:
    from confluent_kafka import KafkaException
    from psycopg import Error as DatabaseError

    from lily.app import lag

    try:
        return lag(settings.model_copy(update={"kafka_bootstrap": state.kafka, "database_url": state.database}))
    except (LilyError, DatabaseError, KafkaException) as error:  # an engine may be restarting just now
        complain(f"The lag is unknown: {error}")
        return {}


def _describe(rows: list[dict[str, object]], lag: dict[str, int], *, ready: bool) -> None:
    table = [row | {"memory": f"{int(str(row['rss_bytes'])) / (1 << 20):.0f} MiB"} for row in rows]
    print_table(table, ("name", "pid", "state", "memory"))
    for topic, behind in lag.items():
        say(f"{topic}: {behind} events behind")
    say("[green]ready[/]" if ready else "[yellow]not ready[/]")
