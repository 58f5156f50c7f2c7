"""`lily jars`: fetches the jars of Kafka and Spark into the user's cache."""

# ruff: noqa: PLC0415 (the command imports the fetcher when it runs: `--help` need not pay for it)

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from lily.cli.answer import print_json, say
from lily.cli.options import AnswerFormat, DataDir, Format, read_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lily.embedded.jars import Progress


def jars(data_dir: DataDir = None, answer: AnswerFormat = Format.text) -> None:
    """Fetch the jars of Kafka and Spark, once; afterwards Lily starts without network."""
    directory = fetch_jars(read_settings(data_dir).jars_dir)
    if answer is Format.json:
        print_json({"jars_dir": str(directory)})
    else:
        say(f"[green]✓[/] The jars are in {directory}")


def fetch_jars(override: Path | None) -> Path:
    """Makes sure that the jars are there, with a line of progress if that takes a download."""
    from lily.embedded.jars import ensure_jars, is_complete, jars_dir

    directory = jars_dir(override)
    if is_complete(directory):
        return directory
    with _progress_line() as progress:
        return ensure_jars(override, progress)


@contextmanager
def _progress_line() -> "Iterator[Progress]":
    console = Console(stderr=True, highlight=False)
    title = "Fetching the jars of Kafka and Spark (100 MB, once)"
    if not console.is_terminal:
        console.print(f"{title} …", soft_wrap=True)
        yield lambda _: None
        return
    with console.status(title) as status:
        yield lambda message: status.update(f"{title}: {message}")
