"""`lily estate`: a realistic estate of any size, as NDJSON or straight into the running stack."""

# ruff: noqa: PLC0415 (the client, its HTTP library and the engines' drivers are only needed to ingest)

import json
import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from lily.cli.answer import print_json, say
from lily.cli.options import AnswerFormat, DataDir, Format, read_settings
from lily.estate import Estate
from lily.model.errors import Terminal, Transient

if TYPE_CHECKING:
    from lily.bus.offsets import Offsets
    from lily.cli.journey import Journey
    from lily.client import BulkResult, Lily
    from lily.settings import Settings


def estate(
    *,
    assets: Annotated[int, typer.Option(min=0, help="How many assets; nine in ten are columns and fields.")] = 1_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same estate.")] = 0,
    lineage: Annotated[bool, typer.Option("--lineage", help="Print the edges among the assets instead.")] = False,
    ingest: Annotated[bool, typer.Option("--ingest", help="Send it to the running stack instead of printing.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="With --ingest: return when all of it can be read.")] = False,
    data_dir: DataDir = None,
    answer: AnswerFormat = Format.text,
) -> None:
    """Make a realistic metadata estate: printed as NDJSON, or ingested with `--ingest`."""
    wanted = Estate(assets, seed)
    if (lineage and ingest) or (wait and not ingest):
        raise Terminal("--lineage only prints, and --wait needs --ingest.")
    if not ingest:
        sys.stdout.writelines(json.dumps(line) + "\n" for line in (wanted.edges() if lineage else wanted.events()))
        return
    settings = read_settings(data_dir)
    os.environ["LILY_DATA_DIR"] = str(settings.data_dir)
    _tell(*_ingest(wanted, settings, wait=wait), wait=wait, answer=answer)


def _ingest(wanted: Estate, settings: "Settings", *, wait: bool) -> "tuple[BulkResult, Journey]":
    from lily.cli.journey import Journey, bars
    from lily.client import Lily

    with Lily() as lily, bars(shown=sys.stderr.isatty()) as progress:
        journey = Journey(progress, wanted.assets, waits=wait)
        stack = _stack(lily, settings) if wait else None
        return _send(lily, wanted, journey, stack), journey


def _send(lily: "Lily", wanted: Estate, journey: "Journey", stack: "Settings | None") -> "BulkResult":
    def show(so_far: "BulkResult") -> None:
        journey.show_sent(so_far.accepted + so_far.rejected)
        if stack is not None:
            journey.look_now_and_then(lambda: _lag(stack))

    result = lily.ingest_many(journey.counted(wanted.events()), on_progress=show)
    if stack is not None:
        end = _log_ends(stack)  # what others write from here on is not waited for
        journey.wait(lambda: _lag(stack, end))
    return result


def _log_ends(stack: "Settings") -> "Offsets":
    from confluent_kafka import KafkaException

    from lily.app import log_ends

    try:
        return log_ends(stack)
    except KafkaException as error:
        raise Transient(f"All was sent, but the log does not answer any more: {error}. See: lily status") from error


def _lag(stack: "Settings", until: "Offsets | None" = None) -> dict[str, int] | None:
    from confluent_kafka import KafkaException
    from psycopg import Error as DatabaseError

    from lily.app import lag

    try:
        return lag(stack, until)
    except (DatabaseError, KafkaException):  # an engine may be restarting just now; the next look tells
        return None


def _stack(lily: "Lily", settings: "Settings") -> "Settings":
    """The settings with the engines of the embedded stack, which alone can be asked how far they are."""
    from lily.embedded.state import load

    state = load(settings.data_dir)
    if not state.supervised() or state.url.rstrip("/") != lily.url:
        raise Terminal(f"--wait follows the stack of {settings.data_dir}, and {lily.url} is another. Leave --wait out.")
    return settings.model_copy(update={"kafka_bootstrap": state.kafka, "database_url": state.database})


def _tell(result: "BulkResult", journey: "Journey", *, wait: bool, answer: Format) -> None:
    sent = {"structure": journey.sent["hot"], "columns": journey.sent["bulk"]}
    if answer is Format.json:
        print_json({"accepted": result.accepted, "rejected": result.rejected, **sent, "readable": wait})
    else:
        kinds = " and ".join(f"{count:,} {kind}" for kind, count in sent.items())
        say(f"[green]✓[/] {result.accepted:,} assets {'can be read' if wait else 'accepted'}: {kinds}")
    if result.rejected:
        raise Terminal(f"{result.rejected} assets were refused. The first: {result.errors[:1]}")
