"""`lily estate`: generates an estate of any size, prints it as NDJSON or sends it to Lily."""

# ruff: noqa: PLC0415 (the client, its HTTP library and the engines' drivers are only needed to ingest)

import json
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from lily.cli.options import DataDir, OutputFormat, flag, option, read_settings
from lily.cli.output import Format, counted, print_result
from lily.estate import Estate, Event
from lily.model.errors import Terminal, Transient

if TYPE_CHECKING:
    from lily.bus.offsets import Offsets
    from lily.cli.metadata.ingest_progress import IngestProgress
    from lily.client import BulkResult, Lily
    from lily.settings import Settings

EDGES_PER_CALL = 5_000  # POST /lineage takes at most 10,000


def estate(
    *,
    assets: Annotated[
        int,
        typer.Option(min=0, metavar="NUMBER", help="Number of assets; nine in ten are columns and dashboard fields."),
    ] = 1_000,
    seed: Annotated[int, option("--seed", "NUMBER", "The same seed generates the same estate.")] = 0,
    lineage: Annotated[bool, flag("--lineage", "Print the lineage edges instead of the assets.")] = False,
    ingest: Annotated[bool, flag("--ingest", "Send the assets and their lineage to Lily instead.")] = False,
    wait: Annotated[bool, flag("--wait", "With --ingest: return when assets and lineage can be read.")] = False,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Generate a realistic metadata estate and print it as NDJSON, or send it to Lily with --ingest.

    --ingest uses LILY_URL and LILY_TOKEN if they are set, otherwise the stack of the data directory.
    """
    wanted = Estate(assets, seed)
    if lineage and ingest:
        raise Terminal("--lineage prints edges, --ingest sends them together with the assets. Use one of the two.")
    if wait and not ingest:
        raise Terminal("--wait only works together with --ingest.")
    if not ingest:
        sys.stdout.writelines(json.dumps(line) + "\n" for line in (wanted.edges() if lineage else wanted.events()))
        return
    settings = read_settings(data_dir)
    os.environ["LILY_DATA_DIR"] = str(settings.data_dir)  # where the client looks for the stack
    result, progress = _ingest(wanted, settings, wait=wait)
    _print(result, progress, wait=wait, output=output)


def _ingest(wanted: Estate, settings: "Settings", *, wait: bool) -> "tuple[BulkResult, IngestProgress]":
    from lily.cli.metadata.ingest_progress import IngestProgress, progress_bars
    from lily.client import Lily

    with Lily() as lily, progress_bars(shown=sys.stderr.isatty()) as bars:
        progress = IngestProgress(bars, wanted.assets, lineage=True, wait=wait)
        stack = _stack_settings(lily, settings) if wait else None
        result = _send(lily, wanted, progress, stack)
        if stack is not None:
            end = _log_ends(stack)  # events that others write from here on are not waited for
            progress.wait(lambda: _lag(stack, end))
        return result, progress


def _send(lily: "Lily", wanted: Estate, progress: "IngestProgress", stack: "Settings | None") -> "BulkResult":
    def poll() -> None:
        if stack is not None:
            progress.poll(lambda: _lag(stack))

    def show(so_far: "BulkResult") -> None:
        progress.show_assets_sent(so_far.accepted + so_far.rejected)
        poll()

    result = lily.ingest_many(progress.counted(wanted.events()), on_progress=show)
    for edges in _batches(wanted.edges(), EDGES_PER_CALL):
        progress.add_edges(lily.relate(edges).accepted)
        poll()
    progress.finish_edges()
    return result


def _batches(items: Iterable[Event], size: int) -> Iterator[list[Event]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def _log_ends(stack: "Settings") -> "Offsets":
    from confluent_kafka import KafkaException

    from lily.app import log_ends

    try:
        return log_ends(stack)
    except KafkaException as error:
        raise Transient(
            f"Everything was sent, but Kafka does not respond any more: {error}. Check `lily status`."
        ) from error


def _lag(stack: "Settings", until: "Offsets | None" = None) -> dict[str, int] | None:
    from confluent_kafka import KafkaException
    from psycopg import Error as DatabaseError

    from lily.app import lag

    try:
        return lag(stack, until)
    except (DatabaseError, KafkaException):  # an engine may be restarting; the next poll shows
        return None


def _stack_settings(lily: "Lily", settings: "Settings") -> "Settings":
    """Returns settings with the addresses of the embedded engines: the lag can only be read from them."""
    from lily.embedded.kafka.users import stack_settings
    from lily.embedded.state import load

    state = load(settings.data_dir)
    if not state.supervised() or state.url.rstrip("/") != lily.url:
        raise Terminal(
            f"--wait works only with the stack in {settings.data_dir}, but the estate would go to {lily.url}. Leave "
            "out --wait, or name the stack's directory with --data-dir."
        )
    return stack_settings(settings, state)


def _print(result: "BulkResult", progress: "IngestProgress", *, wait: bool, output: Format) -> None:
    from lily.cli.metadata.ingest_progress import KINDS

    sent = {kind: progress.sent[topic] for topic, kind in KINDS.items()}
    edges = sent.pop("lineage")
    kinds = f"{sent['structure']:,} structural or tagged, {sent['columns']:,} plain columns"
    done = "can be read" if wait else "accepted"
    print_result(
        output,
        {"accepted": result.accepted, "rejected": result.rejected, **sent, "edges": edges, "readable": wait},
        f"[green]✓[/] {counted(result.accepted, 'asset')} ({kinds}) and {counted(edges, 'lineage edge')} {done}.",
    )
    if result.rejected:
        first = "".join(f" The first is row {error.row}: {error.description}." for error in result.errors[:1])
        raise Terminal(f"Rejected: {counted(result.rejected, 'asset')}.{first}")
