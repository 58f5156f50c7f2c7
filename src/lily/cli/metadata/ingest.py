"""`lily ingest`: one run of a connector, from a recipe."""

# ruff: noqa: PLC0415 (the client and the plug-ins are only imported when the command runs)

import os
import sys
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from lily.cli.options import DataDir, OutputFormat, flag, option, read_settings
from lily.cli.output import Format, counted, print_json, print_text, visible
from lily.model.errors import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lily.connect.recipes import Recipe
    from lily.connect.run import Report, Sink

RecipeFile = Annotated[Path, typer.Option("--config", "-c", metavar="RECIPE", help="The recipe, a TOML file.")]


def ingest(
    *,
    config: RecipeFile,
    dry_run: Annotated[bool, flag("--dry-run", "Read and transform everything, send nothing.")] = False,
    refresh_run: Annotated[
        str, option("--refresh-run", "ID", "Report the start and the end of this requested refresh.", "none")
    ] = "",
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Run a connector once: read the source of a recipe, transform what it states, send it to Lily."""
    from lily.connect.recipes import read_recipe
    from lily.connect.run import run
    from lily.plugins import installed

    if dry_run and refresh_run:
        raise Terminal("A dry run sends nothing, so it cannot be a refresh. Use either --dry-run or --refresh-run.")
    recipe = read_recipe(config)
    os.environ["LILY_DATA_DIR"] = str(read_settings(data_dir).data_dir)
    with _sink(recipe, dry_run=dry_run) as sink, _reported(recipe, refresh_run) as reported, _progress() as show:
        report = reported(lambda: run(recipe, installed(), sink, show))
    _print(report, dry_run=dry_run, output=output)


@contextmanager
def _reported(recipe: "Recipe", run_id: str) -> "Iterator[Callable[[Callable[[], Report]], Report]]":
    """Yields what does the work: as the run of a refresh, if there is one."""
    from lily.client import Lily
    from lily.connect.refresh import RefreshRun, refresh

    if not run_id:
        yield lambda work: work()
        return
    with Lily(recipe.sink.url, recipe.sink.token) as lily:
        yield lambda work: refresh(lily, RefreshRun(run_id), work)


@contextmanager
def _sink(recipe: "Recipe", *, dry_run: bool) -> "Iterator[Sink]":
    from lily.client import Lily
    from lily.connect.sink import LilySink, NoSink

    if dry_run:
        yield NoSink()
        return
    with Lily(recipe.sink.url, recipe.sink.token) as lily:
        yield LilySink(lily, recipe.sink.wait)


@contextmanager
def _progress() -> "Iterator[Callable[[Report], None]]":
    """A bar on a terminal. How much there is to read is not known before it has been read."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bars:
        task = bars.add_task("reading", total=None)
        yield lambda report: bars.update(task, description=_summary(report))


def _summary(report: "Report") -> str:
    parts = [counted(report.accepted, "asset"), counted(report.edges, "edge"), f"{report.rejected:,} rejected"]
    return " · ".join([f"{report.read:,} read", *parts])


def _print(report: "Report", *, dry_run: bool, output: Format) -> None:
    if output is Format.json:
        print_json({**asdict(report), "dry_run": dry_run})
    else:
        sent = "would be sent" if dry_run else "accepted"
        dropped = f", {report.dropped:,} dropped by transforms" if report.dropped else ""
        found = f"{counted(report.accepted, 'asset')} and {counted(report.edges, 'edge')}"
        print_text(f"[green]✓[/] {found} {sent}{dropped}")
        for error in report.errors[:20]:
            where = error["asset"] or error["entity"]
            print_text(escape(visible(f"  ! {where}: {error['description']} ({error['code']})")))
    if report.rejected and output is Format.json:
        raise typer.Exit(1)
    if report.rejected:
        raise Terminal(f"{report.rejected:,} rejected. Correct them at the source and run the recipe again.")
