"""`lily jars`: downloads the jars of Kafka and Spark to the user's cache."""

# ruff: noqa: PLC0415 (the command imports the download code when it runs: `--help` need not pay for it)

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from lily.cli.options import DataDir, OutputFormat, read_settings
from lily.cli.output import Format, print_result, progress_line

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from lily.settings import Settings


class Extra(StrEnum):
    """Jars that only some stacks need."""

    s3 = "s3"


def jars(
    extras: Annotated[
        list[Extra] | None,
        typer.Option("--with", metavar="s3", help="Also download the S3 client (69 MB).", show_default=False),
    ] = None,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Download the jars of Kafka and Spark (100 MB, once). Afterwards Lily starts without network access.

    The S3 client is included if LILY_WAREHOUSE is an `s3://` URI.
    """
    directory = fetch_jars(read_settings(data_dir), extras or ())
    print_result(output, {"jars_dir": str(directory)}, f"[green]✓[/] The jars are in {directory}")


def fetch_jars(settings: "Settings", extras: "Collection[str]" = ()) -> "Path":
    """Returns the directory of the jars, after downloading those that are missing, with a line of progress."""
    from lily.embedded.jars import CLASS_PATHS, class_paths, ensure_jars, is_complete, jars_dir

    directory = jars_dir(settings.jars_dir)
    wanted = list(dict.fromkeys((*class_paths(settings.warehouse), *extras)))
    if is_complete(directory, wanted):
        return directory
    size = "100 MB" if wanted == list(CLASS_PATHS) else "170 MB"
    with progress_line(f"Downloading the jars of Kafka and Spark ({size}, once)") as progress:
        return ensure_jars(settings.jars_dir, progress, wanted)
