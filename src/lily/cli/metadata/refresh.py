"""`lily refresh`: how often data sources are refreshed, and the runs; `listen` carries them out."""

# ruff: noqa: PLC0415 (the client and the plug-ins are only imported when a command runs)

import os
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from lily.cli.options import DataDir, Group, OutputFormat, flag, option, read_settings
from lily.cli.output import Format, print_error, print_items, print_result, visible
from lily.cli.running import running_lily
from lily.model.errors import LilyError, Terminal

if TYPE_CHECKING:
    from lily.client import Lily
    from lily.connect.recipes import Recipe

refresh = typer.Typer(cls=Group, help="Refresh data sources on a schedule.", no_args_is_help=True)

NO_SCHEDULES = "No asset names a data source yet. `lily refresh set NAME --every 6h` configures one."
NO_RUNS = "There is no such run. `lily refresh run DATA_SOURCE` requests one."
WAIT_SECONDS = 30  # that one request for a run waits
RETRY_SECONDS = 5.0

DataSource = Annotated[str, typer.Argument(metavar="DATA_SOURCE", help="As its assets name it.")]
Recipes = Annotated[list[Path], typer.Option("--config", "-c", metavar="RECIPE", help="A recipe with a data_source.")]
Once = Annotated[bool, flag("--once", "Run at most one refresh, then exit.")]


@refresh.command("list")
def list_schedules(data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """List the schedules, with the next run and how the last one ended."""
    with running_lily(data_dir) as lily:
        found = list(lily.refresh_schedules())
    rows = [one | {"last_run": (one["last_run"] or {}).get("state"), "next_run": _next(one)} for one in found]
    print_items(output, found, ("data_source", "every", "next_run", "last_run"), NO_SCHEDULES, rows)


@refresh.command("set")
def set_schedule(
    data_source: DataSource,
    *,
    every: Annotated[str, option("--every", "TIME", "How often: 30m, 6h or 7d.")] = "24h",
    timeout: Annotated[str, option("--timeout", "TIME", "How long a run may take.")] = "4h",
    off: Annotated[bool, flag("--off", "Do not refresh it.")] = False,
    default: Annotated[bool, flag("--default", "Go back to the default: every 24 hours.")] = False,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Set how often a data source is refreshed. It need not have assets yet."""
    with running_lily(data_dir) as lily:
        if default:
            lily.reset_refresh_schedule(data_source)
            print_result(output, {"data_source": data_source}, f"{escape(data_source)} has the default schedule again.")
            return
        found = lily.set_refresh_schedule(data_source, every=every, timeout=timeout, enabled=not off)
    print_result(output, found, f"{escape(data_source)} is refreshed every {found['every']}, next: {_next(found)}")


@refresh.command("run")
def run_now(data_source: DataSource, data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """Request a refresh now. `lily refresh listen`, or another scraper, carries it out."""
    with running_lily(data_dir) as lily:
        found = lily.request_refresh(data_source)
    print_result(output, found, f"The run {found['run_id']} of {escape(data_source)} is requested.")


@refresh.command("runs")
def list_runs(
    *,
    data_source: Annotated[str | None, option("--data-source", "NAME", "Only its runs.")] = None,
    state: Annotated[
        str | None, option("--state", "STATE", "requested, running, succeeded, failed, timed_out.")
    ] = None,
    limit: Annotated[int, option("--limit", "N", "The most runs to list.")] = 50,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """List runs, the newest first."""
    with running_lily(data_dir) as lily:
        found = list(islice(lily.refresh_runs(data_source=data_source, state=state), max(limit, 0)))
    columns = ("run_id", "data_source", "state", "reason", "requested_at", "finished_at", "error")
    print_items(output, found, columns, NO_RUNS)


@refresh.command("listen")
def listen(
    *, config: Recipes, once: Once = False, data_dir: DataDir = None, output: OutputFormat = Format.text
) -> None:
    """Wait for refreshes of the recipes' data sources, and run the recipe, one at a time."""
    from lily.client import Lily
    from lily.client.errors import Unavailable

    recipes = recipes_by_source(config)
    sink = next(iter(recipes.values())).sink
    os.environ["LILY_DATA_DIR"] = str(read_settings(data_dir).data_dir)  # where the client looks for the stack
    with Lily(sink.url, sink.token) as lily:
        while True:
            try:
                served = _serve_one(lily, recipes, output)
            except Unavailable as error:
                if once:
                    raise
                print_error(str(error))
                time.sleep(RETRY_SECONDS)
                continue
            if once:
                if not served:
                    print_result(output, {"run": None}, "No refresh of these data sources is requested.")
                return


def recipes_by_source(paths: list[Path]) -> "dict[str, Recipe]":
    """Raises Terminal unless each recipe names a data source of its own, and all send to the same Lily."""
    from lily.connect.recipes import read_recipe

    found: dict[str, Recipe] = {}
    for path in paths:
        recipe = read_recipe(path)
        if recipe.data_source is None:
            raise Terminal(f'{path} does not name its data source. Add a first line such as data_source = "shop".')
        if recipe.data_source in found:
            raise Terminal(f"{path}: another recipe has the data source {recipe.data_source!r} too. Leave one out.")
        found[recipe.data_source] = recipe
    if len({(recipe.sink.url, recipe.sink.token) for recipe in found.values()}) > 1:
        raise Terminal("The recipes send to different addresses. Start one `lily refresh listen` for each.")
    return found


def _serve_one(lily: "Lily", recipes: "dict[str, Recipe]", output: Format) -> bool:
    """Takes a run and carries it out; False if there is none. A run that fails is reported, and the next one is taken.
    Raises Unavailable while Lily does not respond."""
    from lily.client.errors import Unavailable
    from lily.connect.refresh import RefreshRun, refresh
    from lily.connect.run import run
    from lily.connect.sink import LilySink
    from lily.plugins import installed

    taken = lily.take_refresh(list(recipes), wait=WAIT_SECONDS)
    if taken["run"] is None:
        return False
    source, requested = taken["run"]["data_source"], RefreshRun(taken["run"]["run_id"], taken["lease"])
    recipe = recipes[source]
    try:
        sink = LilySink(lily, recipe.sink.wait)
        report = refresh(lily, requested, lambda: run(recipe, installed(), sink, lambda _: None))
    except Unavailable:
        raise
    except LilyError as error:
        print_error(f"The refresh of {source} failed: {error}")
        return True
    counts = f"{report.accepted:,} assets, {report.edges:,} edges, {report.rejected:,} rejected"
    done = {"run_id": requested.run_id, "data_source": source, "accepted": report.accepted, "rejected": report.rejected}
    print_result(output, done, f"{escape(visible(source))} is refreshed: {counts}")
    return True


def _next(schedule: dict[str, Any]) -> str:
    if schedule["run_id"]:
        return "running"
    return str(schedule["next_at"] or "off")
