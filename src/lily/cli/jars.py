"""`lily jars`: fetches the jars of Kafka and Spark into the user's cache."""

# ruff: noqa: PLC0415 (the command imports the fetcher when it runs: `--help` need not pay for it)

from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from lily.cli.answer import print_json, say
from lily.cli.options import AnswerFormat, DataDir, Format, read_settings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from lily.embedded.jars import Progress
    from lily.settings import Settings


class Extra(StrEnum):
    """Jars that not every stack needs."""

    s3 = "s3"


def jars(
    extras: Annotated[
        list[Extra] | None,
        typer.Option("--with", help="Also those of an object store (69 MB).", show_default=False),
    ] = None,
    data_dir: DataDir = None,
    answer: AnswerFormat = Format.text,
) -> None:
    """Fetch the jars of Kafka and Spark, once; afterwards Lily starts without network.

    Those of an object store come too where LILY_WAREHOUSE is one.
    """
    directory = fetch_jars(read_settings(data_dir), extras or ())
    if answer is Format.json:
        print_json({"jars_dir": str(directory)})
    else:
        say(f"[green]✓[/] The jars are in {directory}")


def fetch_jars(settings: "Settings", extras: "Collection[str]" = ()) -> "Path":
    """Makes sure that the jars are there, with a line of progress if that takes a download."""
    from lily.embedded.jars import CLASS_PATHS, class_paths, ensure_jars, is_complete, jars_dir

    directory = jars_dir(settings.jars_dir)
    wanted = list(dict.fromkeys((*class_paths(settings.warehouse), *extras)))
    if is_complete(directory, wanted):
        return directory
    whose = "of Kafka and Spark (100 MB, once)" if wanted == list(CLASS_PATHS) else "(170 MB, once)"
    with _progress_line(f"Fetching the jars {whose}") as progress:
        return ensure_jars(settings.jars_dir, progress, wanted)


@contextmanager
def _progress_line(title: str) -> "Iterator[Progress]":
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        console.print(f"{title} …", soft_wrap=True)
        yield lambda _: None
        return
    with console.status(title) as status:
        yield lambda message: status.update(f"{title}: {message}")
