"""`lily estate`: a realistic estate of any size, as NDJSON or straight into the running stack."""

# ruff: noqa: PLC0415 (the client and its HTTP library are only needed to ingest)

import json
import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

from lily.cli.answer import print_json, say
from lily.cli.options import AnswerFormat, DataDir, Format, read_settings
from lily.estate import Estate
from lily.model.errors import Terminal

if TYPE_CHECKING:
    from lily.client import BulkResult


def estate(
    assets: Annotated[int, typer.Option(min=0, help="How many assets; nine in ten are columns and fields.")] = 1_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same estate.")] = 0,
    ingest: Annotated[bool, typer.Option("--ingest", help="Send it to the running stack instead of printing.")] = False,
    data_dir: DataDir = None,
    answer: AnswerFormat = Format.text,
) -> None:
    """Make a realistic metadata estate: printed as NDJSON, or ingested with `--ingest`."""
    wanted = Estate(assets, seed)
    if not ingest:
        sys.stdout.writelines(json.dumps(event) + "\n" for event in wanted.events())
        return
    os.environ["LILY_DATA_DIR"] = str(read_settings(data_dir).data_dir)
    result = _ingest(wanted)
    if answer is Format.json:
        print_json({"accepted": result.accepted, "rejected": result.rejected})
    else:
        say(f"[green]✓[/] {result.accepted} assets accepted")
    if result.rejected:
        raise Terminal(f"{result.rejected} assets were refused. The first: {result.errors[:1]}")


def _ingest(wanted: Estate) -> "BulkResult":
    from lily.client import Lily

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Lily() as lily, Progress(*columns, disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task("assets", total=wanted.assets)
        return lily.ingest_many(
            wanted.events(),
            on_progress=lambda result: progress.update(bar, completed=result.accepted + result.rejected),
        )
